#import "ingot_metal.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <TargetConditionals.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Objects in C structs, with ARC (Swift packages) and without: OWN takes what a method named `new`
 * returns, KEEP what another one does, and LET_GO gives either back. */
#if __has_feature(objc_arc)
#define OWN(object) ((__bridge_retained void *)(object))
#define KEEP(object) ((__bridge_retained void *)(object))
#define AS(type, pointer) ((__bridge type)(pointer))
#define LET_GO(pointer) ((void)(__bridge_transfer id)(pointer))
#else
#define OWN(object) ((void *)(object))
#define KEEP(object) ((void *)[(object) retain])
#define AS(type, pointer) ((type)(pointer))
#define LET_GO(pointer) [(id)(pointer) release]
#endif

enum { MOST_FAMILY = 15, FILL_GROUPS = 1024, FILL_THREADS = 256 };
enum { FILL_BYTES, FILL_WORDS, COPY_BYTES, COPY_WORDS, OWN_KERNELS };

/* Fills and copies at any offset and length. They are kernels because a blit would end the encoder. */
static const char own_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Fill { ulong count; uint pattern; };\n"
    "kernel void fill_bytes(device uchar* target [[buffer(0)]], constant Fill& fill [[buffer(1)]],\n"
    "    uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {\n"
    "    for (ulong i = at.x; i < fill.count; i += size.x) {\n"
    "        target[i] = uchar(fill.pattern >> (8 * uint(i % 4)));\n"
    "    }\n"
    "}\n"
    "kernel void fill_words(device uint* target [[buffer(0)]], constant Fill& fill [[buffer(1)]],\n"
    "    uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {\n"
    "    for (ulong i = at.x; i < fill.count; i += size.x) { target[i] = fill.pattern; }\n"
    "}\n"
    "kernel void copy_bytes(device uchar* target [[buffer(0)]], constant ulong& count [[buffer(1)]],\n"
    "    const device uchar* source [[buffer(2)]], uint3 at [[thread_position_in_grid]],\n"
    "    uint3 size [[threads_per_grid]]) {\n"
    "    for (ulong i = at.x; i < count; i += size.x) { target[i] = source[i]; }\n"
    "}\n"
    "kernel void copy_words(device uint* target [[buffer(0)]], constant ulong& count [[buffer(1)]],\n"
    "    const device uint* source [[buffer(2)]], uint3 at [[thread_position_in_grid]],\n"
    "    uint3 size [[threads_per_grid]]) {\n"
    "    for (ulong i = at.x; i < count; i += size.x) { target[i] = source[i]; }\n"
    "}\n";

struct context {
    void *device, *queue;     /* id<MTLDevice>, id<MTLCommandQueue> */
    void *commands, *encoder; /* what is being recorded, or NULL */
    void *own[OWN_KERNELS];   /* id<MTLComputePipelineState>, made when first needed */
    uint32_t family;
};

struct ingot_pipeline_ {
    void *state, *function; /* id<MTLComputePipelineState>, id<MTLFunction> */
    char *name;
    MTLSize threads;
    int uses_argument_buffer;
};

static int fail(struct ingot_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct ingot_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return 1;
}

static const char *reason(NSError *error) {
    const char *text = error.localizedDescription.UTF8String;
    return text ? text : "no reason given";
}

/* Buffers are MTLBuffers. */

static int allocate(void *opaque, uint64_t size, ingot_buffer *buffer, struct ingot_error *error) {
    struct context *c = opaque;
    id<MTLDevice> device = AS(id<MTLDevice>, c->device);
    *buffer = size > device.maxBufferLength
                  ? NULL
                  : OWN([device newBufferWithLength:(NSUInteger)size options:MTLResourceStorageModeShared]);
    return *buffer ? 0 : fail(error, "the device has not enough memory for %llu bytes", (unsigned long long)size);
}

static void *contents(void *opaque, ingot_buffer buffer) {
    (void)opaque;
    return AS(id<MTLBuffer>, buffer).contents;
}

static void release(void *opaque, ingot_buffer buffer) {
    (void)opaque;
    LET_GO(buffer);
}

/* Pipelines */

/* The MTLLibrary of MSL text, or NULL. */
static void *compile(struct context *c, const char *text, const char *name, int is_fast, const uint32_t version[2],
                     struct ingot_error *error) {
    NSString *source = [NSString stringWithUTF8String:text];
    if (!source) return fail(error, "the MSL of kernel '%.100s' is not text", name), NULL;
    NSError *failure = nil;
    void *options = OWN([MTLCompileOptions new]);
    MTLCompileOptions *choices = AS(MTLCompileOptions *, options);
    if (@available(macOS 15.0, iOS 18.0, *)) {
        choices.mathMode = is_fast ? MTLMathModeFast : MTLMathModeSafe;
        choices.mathFloatingPointFunctions =
            is_fast ? MTLMathFloatingPointFunctionsFast : MTLMathFloatingPointFunctionsPrecise;
    } else {
        choices.fastMathEnabled = is_fast ? YES : NO;
    }
    if (version[0]) choices.languageVersion = (MTLLanguageVersion)((version[0] << 16) + version[1]);
    void *library = OWN([AS(id<MTLDevice>, c->device) newLibraryWithSource:source options:choices error:&failure]);
    LET_GO(options);
    if (!library) fail(error, "kernel '%.100s' does not compile: %s", name, reason(failure));
    return library;
}

/* The MTLLibrary of a kernel: compiled ahead for this platform, or from its text. */
static void *load(struct context *c, const struct ingot_kernel *kernel, struct ingot_error *error) {
    if (!kernel->metallib.size) {
        int is_fast = !strcmp(kernel->math_mode.data, "fast");
        if (kernel->msl.size)
            return compile(c, kernel->msl.data, kernel->name.data, is_fast, kernel->msl_version, error);
        return fail(error, "kernel '%.100s' has neither MSL nor a metallib for this platform", kernel->name.data), NULL;
    }
    NSError *failure = nil;
    void *data = OWN(dispatch_data_create(kernel->metallib.data, (size_t)kernel->metallib.size, NULL,
                                          DISPATCH_DATA_DESTRUCTOR_DEFAULT));
    void *library = OWN([AS(id<MTLDevice>, c->device) newLibraryWithData:AS(dispatch_data_t, data) error:&failure]);
    LET_GO(data);
    if (!library) fail(error, "kernel '%.100s' does not load: %s", kernel->name.data, reason(failure));
    return library;
}

/* The function `entry` of a library and its pipeline state; the library is let go. */
static int make_state(struct context *c, void *library, const char *entry, const char *name, void **function,
                      void **state, struct ingot_error *error) {
    NSError *failure = nil;
    NSString *symbol = [NSString stringWithUTF8String:entry];
    *function = symbol ? OWN([AS(id<MTLLibrary>, library) newFunctionWithName:symbol]) : NULL;
    LET_GO(library);
    if (!*function) return fail(error, "kernel '%.100s' has no function '%.60s'", name, entry);
    *state = OWN([AS(id<MTLDevice>, c->device) newComputePipelineStateWithFunction:AS(id<MTLFunction>, *function)
                                                                             error:&failure]);
    return *state ? 0 : fail(error, "kernel '%.100s' makes no pipeline: %s", name, reason(failure));
}

static void release_pipeline(void *opaque, ingot_pipeline pipeline) {
    (void)opaque;
    LET_GO(pipeline->state);
    LET_GO(pipeline->function);
    free(pipeline->name);
    free(pipeline);
}

static int check_pipeline(ingot_pipeline pipeline, struct ingot_error *error) {
    id<MTLComputePipelineState> state = AS(id<MTLComputePipelineState>, pipeline->state);
    NSUInteger threads = pipeline->threads.width * pipeline->threads.height * pipeline->threads.depth;
    if (threads > state.maxTotalThreadsPerThreadgroup)
        return fail(error, "kernel '%.100s' has %lu threads a threadgroup; the GPU runs at most %lu of it",
                    pipeline->name, (unsigned long)threads, (unsigned long)state.maxTotalThreadsPerThreadgroup);
    if (state.threadExecutionWidth != 32)
        return fail(error, "kernel '%.100s' runs in SIMD-groups of %lu threads, and was compiled for 32",
                    pipeline->name, (unsigned long)state.threadExecutionWidth);
    return 0;
}

static int create_pipeline(void *opaque, const struct ingot_kernel *kernel, ingot_pipeline *out,
                           struct ingot_error *error) {
    @autoreleasepool {
        ingot_pipeline pipeline = calloc(1, sizeof *pipeline);
        if (!pipeline || !(pipeline->name = strdup(kernel->name.data))) {
            free(pipeline);
            return fail(error, "out of memory");
        }
        const uint32_t *size = kernel->threadgroup_size;
        pipeline->threads = MTLSizeMake(size[0], size[1], size[2]);
        pipeline->uses_argument_buffer = kernel->uses_argument_buffer;
        void *library = load(opaque, kernel, error);
        if (!library ||
            make_state(opaque, library, kernel->entry_point.data, pipeline->name, &pipeline->function, &pipeline->state,
                       error) ||
            check_pipeline(pipeline, error)) {
            release_pipeline(opaque, pipeline);
            return 1;
        }
        *out = pipeline;
        return 0;
    }
}

/* Commands: all are dispatches in one concurrent encoder, in which barriers are memory barriers. */

static void discard(void *opaque) {
    struct context *c = opaque;
    if (c->encoder) [AS(id<MTLComputeCommandEncoder>, c->encoder) endEncoding];
    LET_GO(c->encoder);
    LET_GO(c->commands);
    c->encoder = c->commands = NULL;
}

/* The open encoder, with a pipeline set; nil when there is none to be had. */
static id<MTLComputeCommandEncoder> encode(struct context *c, void *state, const char *name,
                                           struct ingot_error *error) {
    if (!c->commands) {
        c->commands = KEEP([AS(id<MTLCommandQueue>, c->queue) commandBuffer]);
        id<MTLCommandBuffer> commands = AS(id<MTLCommandBuffer>, c->commands);
        c->encoder = KEEP([commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent]);
    }
    if (!c->encoder) return fail(error, "Metal gives no command encoder"), nil;
    id<MTLComputeCommandEncoder> encoder = AS(id<MTLComputeCommandEncoder>, c->encoder);
    NSString *signpost = [NSString stringWithUTF8String:name];
    if (signpost) [encoder insertDebugSignpost:signpost];
    [encoder setComputePipelineState:AS(id<MTLComputePipelineState>, state)];
    return encoder;
}

static NSUInteger offset_of(struct ingot_range range) { return range.length ? (NSUInteger)range.offset : 0; }

/* Binds one buffer with the addresses of all others. */
static int bind_argument_buffer(struct context *c, id<MTLComputeCommandEncoder> encoder, ingot_pipeline pipeline,
                                const struct ingot_range *bindings, uint32_t count, struct ingot_error *error) {
    void *arguments = OWN([AS(id<MTLFunction>, pipeline->function) newArgumentEncoderWithBufferIndex:0]);
    id<MTLArgumentEncoder> writer = AS(id<MTLArgumentEncoder>, arguments);
    void *packed = OWN([AS(id<MTLDevice>, c->device) newBufferWithLength:writer.encodedLength
                                                                 options:MTLResourceStorageModeShared]);
    if (packed) {
        [writer setArgumentBuffer:AS(id<MTLBuffer>, packed) offset:0];
        for (uint32_t i = 0; i < count; i++) {
            id<MTLBuffer> buffer = AS(id<MTLBuffer>, bindings[i].buffer);
            [writer setBuffer:buffer offset:offset_of(bindings[i]) atIndex:i];
            [encoder useResource:buffer usage:MTLResourceUsageRead | MTLResourceUsageWrite];
        }
        [encoder setBuffer:AS(id<MTLBuffer>, packed) offset:0 atIndex:0];
    }
    LET_GO(arguments);
    LET_GO(packed); /* the command buffer has it */
    return packed ? 0 : fail(error, "the device has not enough memory for an argument buffer");
}

static int dispatch(void *opaque, ingot_pipeline pipeline, const uint32_t groups[3], const struct ingot_range *bindings,
                    uint32_t count, struct ingot_bytes constants, struct ingot_error *error) {
    if (!groups[0] || !groups[1] || !groups[2]) return 0;
    @autoreleasepool {
        id<MTLComputeCommandEncoder> encoder = encode(opaque, pipeline->state, pipeline->name, error);
        if (!encoder) return 1;
        if (pipeline->uses_argument_buffer) {
            if (bind_argument_buffer(opaque, encoder, pipeline, bindings, count, error)) return 1;
            count = 1;
        } else {
            for (uint32_t i = 0; i < count; i++)
                [encoder setBuffer:AS(id<MTLBuffer>, bindings[i].buffer) offset:offset_of(bindings[i]) atIndex:i];
        }
        if (constants.size) [encoder setBytes:constants.data length:(NSUInteger)constants.size atIndex:count];
        [encoder dispatchThreadgroups:MTLSizeMake(groups[0], groups[1], groups[2])
                threadsPerThreadgroup:pipeline->threads];
        return 0;
    }
}

/* Records one of our own kernels; `source` may have no buffer. */
static int run_own(struct context *c, int kernel, const void *constants, NSUInteger size, struct ingot_range target,
                   struct ingot_range source, struct ingot_error *error) {
    static const char *const entries[OWN_KERNELS] = {"fill_bytes", "fill_words", "copy_bytes", "copy_words"};
    static const uint32_t any_version[2] = {0, 0};
    const char *name = source.buffer ? "copy" : "fill";
    @autoreleasepool {
        if (!c->own[kernel]) {
            void *function = NULL, *library = compile(c, own_source, name, 0, any_version, error);
            int failed = !library || make_state(c, library, entries[kernel], name, &function, &c->own[kernel], error);
            LET_GO(function);
            if (failed) return 1;
        }
        id<MTLComputeCommandEncoder> encoder = encode(c, c->own[kernel], name, error);
        if (!encoder) return 1;
        [encoder setBuffer:AS(id<MTLBuffer>, target.buffer) offset:(NSUInteger)target.offset atIndex:0];
        [encoder setBytes:constants length:size atIndex:1];
        if (source.buffer)
            [encoder setBuffer:AS(id<MTLBuffer>, source.buffer) offset:(NSUInteger)source.offset atIndex:2];
        [encoder dispatchThreadgroups:MTLSizeMake(FILL_GROUPS, 1, 1)
                threadsPerThreadgroup:MTLSizeMake(FILL_THREADS, 1, 1)];
        return 0;
    }
}

static int fill(void *opaque, struct ingot_range target, struct ingot_bytes pattern, struct ingot_error *error) {
    const uint8_t *bytes = pattern.data;
    struct { uint64_t count; uint32_t pattern, padding; } constants = {0, 0, 0};
    int is_words = target.offset % 4 == 0 && target.length % 4 == 0;
    if (!target.length || !pattern.size) return 0;
    for (unsigned i = 0; i < 4; i++) constants.pattern |= (uint32_t)bytes[i % pattern.size] << (8 * i);
    constants.count = is_words ? target.length / 4 : target.length;
    return run_own(opaque, is_words ? FILL_WORDS : FILL_BYTES, &constants, sizeof constants, target,
                   (struct ingot_range){NULL, 0, 0}, error);
}

static int copy(void *opaque, struct ingot_range source, struct ingot_range target, struct ingot_error *error) {
    int is_words = target.offset % 4 == 0 && source.offset % 4 == 0 && target.length % 4 == 0;
    uint64_t count = is_words ? target.length / 4 : target.length;
    if (!count) return 0;
    return run_own(opaque, is_words ? COPY_WORDS : COPY_BYTES, &count, sizeof count, target, source, error);
}

static int barrier(void *opaque, struct ingot_error *error) {
    struct context *c = opaque;
    (void)error;
    if (c->encoder) [AS(id<MTLComputeCommandEncoder>, c->encoder) memoryBarrierWithScope:MTLBarrierScopeBuffers];
    return 0;
}

static int submit(void *opaque, struct ingot_error *error) {
    struct context *c = opaque;
    if (!c->commands) return 0;
    @autoreleasepool {
        id<MTLCommandBuffer> commands = AS(id<MTLCommandBuffer>, c->commands);
        [AS(id<MTLComputeCommandEncoder>, c->encoder) endEncoding];
        LET_GO(c->encoder);
        c->encoder = NULL;
        [commands commit];
        [commands waitUntilCompleted];
        int failed = commands.status == MTLCommandBufferStatusError;
        if (failed) fail(error, "Metal failed: %s", reason(commands.error));
        discard(c);
        return failed;
    }
}

/* The device */

static int has_feature(void *opaque, struct ingot_text name) {
    static const char *const names[] = {
        "int8",           "int16",           "int64",          "float16",           "bfloat16",
        "storage8",       "storage16",       "subgroup-basic", "subgroup-vote",     "subgroup-arithmetic",
        "subgroup-ballot", "subgroup-shuffle", "subgroup-quad", "subgroup-shuffle-relative",
    };
    struct context *c = opaque;
    for (size_t i = 0; c->family >= 7 && i < sizeof names / sizeof *names; i++)
        if (name.size == strlen(names[i]) && !memcmp(name.data, names[i], name.size)) return 1;
    return 0;
}

void ingot_metal_close(struct ingot_device *device) {
    struct context *c = device->context;
    if (!c) return;
    device->context = NULL;
    discard(c);
    for (int i = 0; i < OWN_KERNELS; i++) LET_GO(c->own[i]);
    LET_GO(c->queue);
    LET_GO(c->device);
    free(c);
}

int ingot_metal_open(struct ingot_device *device, struct ingot_error *error) {
    struct context *c = calloc(1, sizeof *c);
    if (!c) return fail(error, "out of memory");
    *device = (struct ingot_device){
        .context = c,
        .api = "metal",
#if TARGET_OS_SIMULATOR
        .platform = "iphonesimulator",
#elif TARGET_OS_IPHONE
        .platform = "iphoneos",
#else
        .platform = "macosx",
#endif
        .simd_width = 32,
        .has_feature = has_feature,
        .allocate = allocate,
        .contents = contents,
        .release = release,
        .pipeline = create_pipeline,
        .release_pipeline = release_pipeline,
        .dispatch = dispatch,
        .fill = fill,
        .copy = copy,
        .barrier = barrier,
        .submit = submit,
        .discard = discard,
    };
    @autoreleasepool {
        c->device = OWN(MTLCreateSystemDefaultDevice());
        id<MTLDevice> gpu = AS(id<MTLDevice>, c->device);
        c->queue = gpu ? OWN([gpu newCommandQueue]) : NULL;
        for (uint32_t family = 1; family <= MOST_FAMILY; family++)
            if ([gpu supportsFamily:(MTLGPUFamily)(MTLGPUFamilyApple1 + (NSInteger)family - 1)]) c->family = family;
        device->family = c->family;
        if (c->queue) return 0;
        ingot_metal_close(device);
        return fail(error, "this system has no GPU that Metal can use");
    }
}
