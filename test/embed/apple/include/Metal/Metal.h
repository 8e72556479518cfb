/* What the back end uses of Metal, written from its documentation: for checks without a Mac. */
#ifndef STAND_IN_METAL_H
#define STAND_IN_METAL_H
#import <Foundation/Foundation.h>
#import <dispatch/dispatch.h>

#pragma clang assume_nonnull begin

#define ENUM(name) enum name : NSUInteger name; enum name : NSUInteger
#define SIGNED_ENUM(name) enum name : NSInteger name; enum name : NSInteger

typedef struct { NSUInteger width, height, depth; } MTLSize;
static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
    return (MTLSize){width, height, depth};
}

typedef ENUM(MTLResourceOptions) { MTLResourceStorageModeShared = 0 };
typedef ENUM(MTLResourceUsage) { MTLResourceUsageRead = 1, MTLResourceUsageWrite = 2 };
typedef ENUM(MTLDispatchType) { MTLDispatchTypeSerial, MTLDispatchTypeConcurrent };
typedef ENUM(MTLBarrierScope) { MTLBarrierScopeBuffers = 1 };
typedef ENUM(MTLCommandBufferStatus) { MTLCommandBufferStatusCompleted = 4, MTLCommandBufferStatusError = 5 };
typedef ENUM(MTLLanguageVersion) { MTLLanguageVersion3_1 = (3 << 16) + 1 };
typedef SIGNED_ENUM(MTLGPUFamily) { MTLGPUFamilyApple1 = 1001 };
typedef SIGNED_ENUM(MTLMathMode) { MTLMathModeSafe, MTLMathModeRelaxed, MTLMathModeFast };
typedef SIGNED_ENUM(MTLMathFloatingPointFunctions) {
    MTLMathFloatingPointFunctionsFast,
    MTLMathFloatingPointFunctionsPrecise
};

@protocol MTLBuffer <NSObject>
- (void *)contents;
@property(readonly) NSUInteger length;
@end

@protocol MTLArgumentEncoder <NSObject>
@property(readonly) NSUInteger encodedLength;
- (void)setArgumentBuffer:(nullable id<MTLBuffer>)buffer offset:(NSUInteger)offset;
- (void)setBuffer:(nullable id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
@end

@protocol MTLFunction <NSObject>
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index;
@end

@protocol MTLLibrary <NSObject>
- (nullable id<MTLFunction>)newFunctionWithName:(NSString *)name;
@end

@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@end

@interface MTLCompileOptions : NSObject {
    BOOL fastMathEnabled;
    MTLMathMode mathMode;
    MTLMathFloatingPointFunctions mathFloatingPointFunctions;
    MTLLanguageVersion languageVersion;
}
@property(readwrite, nonatomic) BOOL fastMathEnabled;
@property(readwrite, nonatomic) MTLMathMode mathMode SINCE(15.0, 18.0);
@property(readwrite, nonatomic) MTLMathFloatingPointFunctions mathFloatingPointFunctions SINCE(15.0, 18.0);
@property(readwrite, nonatomic) MTLLanguageVersion languageVersion;
@end

@protocol MTLComputeCommandEncoder <NSObject>
- (void)endEncoding;
- (void)insertDebugSignpost:(NSString *)string;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBuffer:(nullable id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)useResource:(id<MTLBuffer>)resource usage:(MTLResourceUsage)usage;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
@end

@protocol MTLCommandBuffer <NSObject>
- (nullable id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type;
- (void)commit;
- (void)waitUntilCompleted;
@property(readonly) MTLCommandBufferStatus status;
@property(nullable, readonly) NSError *error;
@end

@protocol MTLCommandQueue <NSObject>
- (nullable id<MTLCommandBuffer>)commandBuffer;
@end

@protocol MTLDevice <NSObject>
@property(readonly) NSUInteger maxBufferLength;
- (nullable id<MTLCommandQueue>)newCommandQueue;
- (BOOL)supportsFamily:(MTLGPUFamily)family;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (nullable id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                                        options:(nullable MTLCompileOptions *)options
                                          error:(NSError *_Nullable *_Nullable)error;
- (nullable id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError *_Nullable *_Nullable)error;
- (nullable id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                                       error:(NSError *_Nullable *_Nullable)error;
@end

__attribute__((ns_returns_retained)) id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice(void);

#pragma clang assume_nonnull end
#endif
