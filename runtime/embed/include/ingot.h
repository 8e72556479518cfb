/* Ingot for apps: opens a bundle and runs its functions through a table of device callbacks.
 *     if (ingot_open(&bundle, data, size, &error)) puts(error.message);
 *     struct ingot_program *program = ingot_load(&bundle, &device, &error);
 *     ingot_call(program, ingot_find(&bundle, "main"), arguments, results, &error);
 * C11, no dependency but libc. Functions return 0, or another number and a sentence in `error`. `data` is trusted
 * with nothing: whatever is wrong with it is an error, and it is read in place, so it must stay where it is (map the
 * file), aligned to 64 bytes. A program serves one thread at a time. docs/embedding.md describes all of it. */
#ifndef INGOT_H
#define INGOT_H
#include <stddef.h>
#include <stdint.h>

enum ingot_dtype { INGOT_I1, INGOT_I4, INGOT_I8, INGOT_I16, INGOT_I32, INGOT_I64, INGOT_F16, INGOT_BF16, INGOT_F32,
                   INGOT_C64, INGOT_UI8, INGOT_UI16, INGOT_UI32, INGOT_UI64 };
enum { INGOT_MAX_RANK = 8 };
struct ingot_error { char message[256]; };
struct ingot_type { enum ingot_dtype dtype; uint32_t rank; int64_t shape[INGOT_MAX_RANK]; };    /* -1: open */
struct ingot_text { const char *data; uint32_t size; };    /* ends in a zero byte, too */
struct ingot_bytes { const void *data; uint64_t size; };

/* `weights` is for the app to fill, before `ingot_load`: what the file `ingot_weights_file` holds. */
struct ingot_bundle { const uint8_t *data; size_t size; uint64_t constants; uint32_t functions, variants;
                      struct ingot_bytes weights; };
int ingot_open(struct ingot_bundle *bundle, const void *data, size_t size, struct ingot_error *error);
int ingot_find(const struct ingot_bundle *bundle, const char *function);    /* -1: none */
struct ingot_text ingot_weights_file(const struct ingot_bundle *bundle);    /* beside the bundle; empty: none */
struct ingot_text ingot_function_name(const struct ingot_bundle *bundle, uint32_t function);
uint32_t ingot_argument_count(const struct ingot_bundle *bundle, uint32_t function);
uint32_t ingot_result_count(const struct ingot_bundle *bundle, uint32_t function);
struct ingot_type ingot_argument_type(const struct ingot_bundle *bundle, uint32_t function, uint32_t position);
struct ingot_type ingot_result_type(const struct ingot_bundle *bundle, uint32_t function, uint32_t position);
uint64_t ingot_byte_size(const struct ingot_type *type);    /* UINT64_MAX: open, or too large */

/* What a device makes of a kernel: MSL (or a metallib) for Metal, SPIR-V for Vulkan. */
struct ingot_kernel { struct ingot_text name, entry_point, spirv_entry_point, msl, math_mode;
                      struct ingot_bytes spirv, metallib; uint32_t threadgroup_size[3], bindings, push_constant_size;
                      uint32_t msl_version[2]; int uses_argument_buffer; };
typedef struct ingot_buffer_ *ingot_buffer;    /* both are the device's own */
typedef struct ingot_pipeline_ *ingot_pipeline;
struct ingot_range { ingot_buffer buffer; uint64_t offset, length; };

/* Commands are recorded one after another and run by `submit`, which waits; between two barriers they may run in any
 * order. Callbacks return 0, or another number and a sentence. */
struct ingot_device {
    void *context;
    const char *api, *platform;    /* "metal", "vulkan"; of metallibs "macosx", "iphoneos", or NULL for none */
    uint32_t family, simd_width;
    int (*has_feature)(void *context, struct ingot_text name);
    int (*allocate)(void *context, uint64_t size, ingot_buffer *buffer, struct ingot_error *error);
    void *(*contents)(void *context, ingot_buffer buffer);    /* host memory of the buffer */
    void (*release)(void *context, ingot_buffer buffer);
    int (*pipeline)(void *context, const struct ingot_kernel *kernel, ingot_pipeline *pipeline,
                    struct ingot_error *error);
    void (*release_pipeline)(void *context, ingot_pipeline pipeline);
    int (*dispatch)(void *context, ingot_pipeline pipeline, const uint32_t groups[3],
                    const struct ingot_range *bindings, uint32_t count, struct ingot_bytes constants,
                    struct ingot_error *error);
    int (*fill)(void *context, struct ingot_range target, struct ingot_bytes pattern, struct ingot_error *error);
    int (*copy)(void *context, struct ingot_range source, struct ingot_range target, struct ingot_error *error);
    int (*barrier)(void *context, struct ingot_error *error);
    int (*submit)(void *context, struct ingot_error *error);
    void (*discard)(void *context);    /* what was recorded and not submitted */
};

/* Row-major contiguous elements; what is open in the function's type is given in `type`. A result needs `capacity`
 * bytes, and gets its type from the call. Bundle and device outlive the program; NULL: it could not be made. */
struct ingot_array { void *data; uint64_t capacity; struct ingot_type type; };
struct ingot_program *ingot_load(const struct ingot_bundle *bundle, const struct ingot_device *device,
                                 struct ingot_error *error);
int ingot_call(struct ingot_program *program, int function, const struct ingot_array *arguments,
               struct ingot_array *results, struct ingot_error *error);
void ingot_unload(struct ingot_program *program);
#endif
