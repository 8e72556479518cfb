/* Metal's objects, with Metal's rules: what breaks one is kept in `stand_in_rule`.
 *
 * Commands run when their command buffer is committed; between two barriers the last one runs first. */
#import "stand_in.h"

#include <stdlib.h>
#include <string.h>

enum { LAST_BUFFER = 30, MOST_THREADS = 1024, MOST_BYTES = 4096, RESIDENT = 256 };

struct stand_in_hooks stand_in_hooks;
const char *stand_in_rule = NULL;

@interface StandInBuffer : NSObject <MTLBuffer> {
@public
    char *bytes;
    NSUInteger size;
    id<MTLBuffer> pointees[RESIDENT];
}
@end
@implementation StandInBuffer
- (void *)contents {
    return bytes;
}
- (NSUInteger)length {
    return size;
}
- (void)dealloc {
    free(bytes);
    [super dealloc];
}
@end

@interface StandInArgumentEncoder : NSObject <MTLArgumentEncoder> {
@public
    NSUInteger members;
    StandInBuffer *target;
}
@end
@implementation StandInArgumentEncoder
- (NSUInteger)encodedLength {
    return 8 * members;
}
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
    stand_in_require(buffer && offset == 0 && 8 * members <= buffer.length, "the argument buffer is too short");
    target = (StandInBuffer *)buffer;
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
    stand_in_require(target && index < members, "the argument buffer has no such member");
    stand_in_require(buffer && offset < buffer.length, "the offset leaves the buffer");
    if (!target || index >= members || index >= RESIDENT) return;
    ((void **)(void *)target->bytes)[index] = (char *)buffer.contents + offset;
    target->pointees[index] = buffer;
}
@end

@interface StandInFunction : NSObject <MTLFunction> {
@public
    int kernel;
}
@end
@implementation StandInFunction
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index {
    StandInArgumentEncoder *encoder = [StandInArgumentEncoder new];
    stand_in_require(index == 0, "there is one argument buffer");
    encoder->members = (NSUInteger)stand_in_hooks.members(kernel);
    return encoder;
}
@end

@interface StandInLibrary : NSObject <MTLLibrary> {
@public
    int library;
}
@end
@implementation StandInLibrary
- (id<MTLFunction>)newFunctionWithName:(NSString *)name {
    int kernel = stand_in_hooks.find(library, name.UTF8String);
    if (kernel < 0) return nil;
    StandInFunction *function = [StandInFunction new];
    function->kernel = kernel;
    return function;
}
@end

@interface StandInState : NSObject <MTLComputePipelineState> {
@public
    int kernel;
}
@end
@implementation StandInState
- (NSUInteger)maxTotalThreadsPerThreadgroup {
    return MOST_THREADS;
}
- (NSUInteger)threadExecutionWidth {
    return 32;
}
@end

@implementation MTLCompileOptions
@synthesize fastMathEnabled, mathMode, mathFloatingPointFunctions, languageVersion;
@end

/* What a dispatch runs with; it owns the buffers. */
struct command {
    int kernel, segment;
    uint32_t groups[3], threads[3];
    id<MTLBuffer> buffers[LAST_BUFFER + 1];
    NSUInteger offsets[LAST_BUFFER + 1];
    char *bytes[LAST_BUFFER + 1];
    NSUInteger sizes[LAST_BUFFER + 1];
};

@interface StandInEncoder : NSObject <MTLComputeCommandEncoder> {
@public
    BOOL isEnded;
    int segment, kernel;
    struct command bound;
    id<MTLBuffer> resident[RESIDENT];
    unsigned residents;
    struct command *commands;
    size_t count;
}
@end
@implementation StandInEncoder
- (void)endEncoding {
    stand_in_require(!isEnded, "endEncoding after endEncoding");
    isEnded = YES;
}
- (void)insertDebugSignpost:(NSString *)string {
    stand_in_require(!isEnded && string.UTF8String, "a signpost after endEncoding, or without text");
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
    stand_in_require(!isEnded && state, "no pipeline, or after endEncoding");
    kernel = ((StandInState *)state)->kernel;
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
    stand_in_require(!isEnded && index <= LAST_BUFFER, "there is no such buffer");
    stand_in_require(buffer && offset < buffer.length, "the offset leaves the buffer");
    if (index > LAST_BUFFER) return;
    [bound.buffers[index] release];
    bound.buffers[index] = [buffer retain];
    bound.offsets[index] = offset;
}
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
    stand_in_require(!isEnded && index <= LAST_BUFFER && length && length <= MOST_BYTES, "setBytes takes 1 to 4,096");
    if (index > LAST_BUFFER) return;
    [bound.buffers[index] release];
    bound.buffers[index] = nil;
    free(bound.bytes[index]);
    bound.bytes[index] = memcpy(malloc(length), bytes, length);
    bound.sizes[index] = length;
}
- (void)useResource:(id<MTLBuffer>)resource usage:(MTLResourceUsage)usage {
    stand_in_require(!isEnded && usage, "useResource after endEncoding, or without a usage");
    if (residents < RESIDENT) resident[residents++] = resource;
}
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
    stand_in_require(!isEnded && scope == MTLBarrierScopeBuffers, "a barrier for buffers, before endEncoding");
    segment++;
}
- (BOOL)hasResidents:(StandInBuffer *)arguments {
    for (unsigned i = 0; i < RESIDENT; i++) {
        BOOL is_found = arguments->pointees[i] == nil;
        for (unsigned k = 0; k < residents && !is_found; k++) is_found = resident[k] == arguments->pointees[i];
        if (!is_found) return NO;
    }
    return YES;
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
    NSUInteger total = threads.width * threads.height * threads.depth;
    stand_in_require(!isEnded && kernel >= 0, "a dispatch without a pipeline, or after endEncoding");
    stand_in_require(groups.width && groups.height && groups.depth, "a grid has at least one threadgroup");
    stand_in_require(total && total <= MOST_THREADS, "too many threads");
    struct command command = bound;
    for (unsigned i = 0; i <= LAST_BUFFER; i++) {
        StandInBuffer *buffer = (StandInBuffer *)bound.buffers[i];
        stand_in_require(!stand_in_hooks.needs(kernel, i) || buffer || bound.bytes[i], "a buffer is not bound");
        if (buffer) stand_in_require([self hasResidents:buffer], "a buffer of an argument buffer is not resident");
        [buffer retain];
        if (bound.bytes[i]) command.bytes[i] = memcpy(malloc(bound.sizes[i]), bound.bytes[i], bound.sizes[i]);
    }
    command.kernel = kernel;
    command.segment = segment;
    for (int i = 0; i < 3; i++) {
        command.groups[i] = (uint32_t)(i == 0 ? groups.width : i == 1 ? groups.height : groups.depth);
        command.threads[i] = (uint32_t)(i == 0 ? threads.width : i == 1 ? threads.height : threads.depth);
    }
    commands = realloc(commands, (count + 1) * sizeof *commands);
    commands[count++] = command;
}
- (void)forget:(struct command *)command {
    for (unsigned i = 0; i <= LAST_BUFFER; i++) {
        [command->buffers[i] release];
        free(command->bytes[i]);
    }
}
- (void)dealloc {
    stand_in_require(isEnded, "an encoder was let go before endEncoding");
    for (size_t i = 0; i < count; i++) [self forget:&commands[i]];
    [self forget:&bound];
    free(commands);
    [super dealloc];
}
@end

static int run_command(struct command *command, char message[256]) {
    void *addresses[LAST_BUFFER + 1];
    uint64_t lengths[LAST_BUFFER + 1];
    for (unsigned i = 0; i <= LAST_BUFFER; i++) {
        id<MTLBuffer> buffer = command->buffers[i];
        addresses[i] = buffer ? (char *)buffer.contents + command->offsets[i] : command->bytes[i];
        lengths[i] = buffer ? buffer.length - command->offsets[i] : command->sizes[i];
    }
    return stand_in_hooks.run(command->kernel, command->groups, command->threads, addresses, lengths, LAST_BUFFER + 1,
                              message);
}

@interface StandInCommandBuffer : NSObject <MTLCommandBuffer> {
    StandInEncoder *encoder;
    BOOL isCommitted;
    MTLCommandBufferStatus status;
    NSError *error;
}
@end
@implementation StandInCommandBuffer
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
    stand_in_require(!encoder && !isCommitted, "a second encoder, or one after the commit");
    stand_in_require(type == MTLDispatchTypeConcurrent, "encoders here are concurrent");
    encoder = [StandInEncoder new];
    encoder->kernel = -1;
    return [[encoder retain] autorelease];
}
- (void)commit {
    char message[256] = "";
    stand_in_require(!isCommitted, "a second commit");
    stand_in_require(encoder && encoder->isEnded, "a commit while an encoder is open");
    isCommitted = YES;
    status = MTLCommandBufferStatusCompleted;
    for (size_t start = 0, end; start < encoder->count; start = end) {
        for (end = start; end < encoder->count && encoder->commands[end].segment == encoder->commands[start].segment;)
            end++;
        for (size_t i = end; i-- > start && status == MTLCommandBufferStatusCompleted;)
            if (run_command(&encoder->commands[i], message)) status = MTLCommandBufferStatusError;
    }
    if (status == MTLCommandBufferStatusError) error = [stand_in_error(message) retain];
}
- (void)waitUntilCompleted {
    stand_in_require(isCommitted, "nobody completes what was not committed");
}
- (MTLCommandBufferStatus)status {
    return status;
}
- (NSError *)error {
    return error;
}
- (void)dealloc {
    [encoder release];
    [error release];
    [super dealloc];
}
@end

@interface StandInQueue : NSObject <MTLCommandQueue>
@end
@implementation StandInQueue
- (id<MTLCommandBuffer>)commandBuffer {
    return [[StandInCommandBuffer new] autorelease];
}
@end

@interface StandInDevice : NSObject <MTLDevice>
@end
@implementation StandInDevice
- (NSUInteger)maxBufferLength {
    return (NSUInteger)1 << 33;
}
- (id<MTLCommandQueue>)newCommandQueue {
    return [StandInQueue new];
}
- (BOOL)supportsFamily:(MTLGPUFamily)family {
    return family >= MTLGPUFamilyApple1 && family <= MTLGPUFamilyApple1 + 6;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
    stand_in_require(length && options == MTLResourceStorageModeShared, "shared storage of at least one byte");
    StandInBuffer *buffer = [StandInBuffer new];
    buffer->bytes = aligned_alloc(64, (length + 63) / 64 * 64);
    buffer->size = length;
    memset(buffer->bytes, 0xA5, length);
    return buffer;
}
- (id<MTLLibrary>)compiled:(const char *)source isFast:(BOOL)isFast error:(NSError **)error {
    char message[256] = "";
    int number = stand_in_hooks.compile(source, isFast, message);
    if (number < 0) {
        *error = stand_in_error(message);
        return nil;
    }
    StandInLibrary *library = [StandInLibrary new];
    library->library = number;
    return library;
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error {
    BOOL isFast = options.mathMode == MTLMathModeFast;
    stand_in_require(isFast || options.mathFloatingPointFunctions == MTLMathFloatingPointFunctionsPrecise,
                     "fast functions are the default");
    return [self compiled:source.UTF8String isFast:isFast error:error];
}
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError **)error {
    static const char head[] = "MTLB macosx\n"; /* as support/fake_xcrun.py writes them */
    const char *text = stand_in_text(data);
    if (!strncmp(text, head, sizeof head - 1)) return [self compiled:text + sizeof head - 1 isFast:NO error:error];
    *error = stand_in_error("Invalid library file");
    return nil;
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError **)error {
    (void)error;
    StandInState *state = [StandInState new];
    state->kernel = ((StandInFunction *)function)->kernel;
    return state;
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) { return [StandInDevice new]; }
