#include "checking_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ingot_buffer_ {
    uint64_t size;
    uint8_t *bytes; /* exactly so many, for the sanitizer */
};

struct ingot_pipeline_ {
    uint32_t bindings, constants;
};

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "the device was given %s\n", what);
    abort();
}

static int fails(struct checking *state, struct ingot_error *error) {
    if (++state->calls != state->fail_at) return 0;
    snprintf(error->message, sizeof error->message, "callback %llu fails", (unsigned long long)state->calls);
    return 1;
}

static void own(struct checking *state, int is_own) {
    if (state->on_memory) state->on_memory(is_own);
}

static uint32_t next(struct checking *state) {
    state->noise = state->noise * 1664525u + 1013904223u;
    return state->noise >> 16;
}

static void check_text(struct ingot_text text) {
    require(text.data && text.data[text.size] == 0, "a text without an end");
    require(strlen(text.data) <= text.size, "a text of another length");
}

static void check_range(struct ingot_range range) {
    require(range.buffer != NULL, "a range of no buffer");
    require(range.offset <= range.buffer->size && range.length <= range.buffer->size - range.offset,
            "a range outside of its buffer");
}

static int has_feature(void *context, struct ingot_text name) {
    (void)context;
    check_text(name);
    return 1;
}

static int allocate(void *context, uint64_t size, ingot_buffer *out, struct ingot_error *error) {
    struct checking *state = context;
    require(size > 0, "an empty buffer to allocate");
    if (fails(state, error)) return 1;
    if (size > state->memory) {
        snprintf(error->message, sizeof error->message, "the device has not enough memory");
        return 1;
    }
    own(state, 1);
    ingot_buffer buffer = malloc(sizeof *buffer);
    uint8_t *bytes = malloc((size_t)size);
    own(state, 0);
    if (!buffer || !bytes) {
        free(buffer);
        free(bytes);
        snprintf(error->message, sizeof error->message, "out of memory");
        return 1;
    }
    memset(bytes, (int)next(state), (size_t)size);
    buffer->size = size;
    buffer->bytes = bytes;
    state->memory -= size;
    state->live++;
    *out = buffer;
    return 0;
}

static void *contents(void *context, ingot_buffer buffer) {
    (void)context;
    return buffer->bytes;
}

static void release(void *context, ingot_buffer buffer) {
    struct checking *state = context;
    state->memory += buffer->size;
    state->live--;
    free(buffer->bytes);
    free(buffer);
}

static void touch(struct ingot_bytes bytes) {
    volatile uint8_t sum = 0;
    for (uint64_t i = 0; i < bytes.size; i++) sum = (uint8_t)(sum + ((const uint8_t *)bytes.data)[i]);
}

static int make_pipeline(void *context, const struct ingot_kernel *kernel, ingot_pipeline *out,
                         struct ingot_error *error) {
    struct checking *state = context;
    check_text(kernel->name);
    check_text(kernel->entry_point);
    check_text(kernel->spirv_entry_point);
    check_text(kernel->msl);
    check_text(kernel->math_mode);
    touch(kernel->spirv);
    touch(kernel->metallib);
    for (int i = 0; i < 3; i++) require(kernel->threadgroup_size[i] > 0, "a threadgroup of no threads");
    if (fails(state, error)) return 1;
    own(state, 1);
    ingot_pipeline pipeline = malloc(sizeof *pipeline);
    own(state, 0);
    if (!pipeline) {
        snprintf(error->message, sizeof error->message, "out of memory");
        return 1;
    }
    *pipeline = (struct ingot_pipeline_){kernel->bindings, kernel->push_constant_size};
    state->live++;
    *out = pipeline;
    return 0;
}

static void release_pipeline(void *context, ingot_pipeline pipeline) {
    struct checking *state = context;
    state->live--;
    free(pipeline);
}

static int record(struct checking *state, struct ingot_error *error) {
    if (fails(state, error)) return 1;
    state->is_recording = 1;
    if (state->commands) {
        state->commands--;
        return 0;
    }
    snprintf(error->message, sizeof error->message, "the program has too many commands for this test");
    return 1;
}

static int dispatch(void *context, ingot_pipeline pipeline, const uint32_t groups[3],
                    const struct ingot_range *bindings, uint32_t count, struct ingot_bytes constants,
                    struct ingot_error *error) {
    struct checking *state = context;
    for (int i = 0; i < 3; i++) require(groups[i] > 0, "an empty grid");
    require(count == pipeline->bindings, "another number of bindings than the kernel has");
    require(constants.size == pipeline->constants, "push constants of another size");
    touch(constants);
    for (uint32_t i = 0; i < count; i++) {
        check_range(bindings[i]);
        if (!bindings[i].length) continue;
        uint8_t *bytes = bindings[i].buffer->bytes + bindings[i].offset;
        bytes[0] = (uint8_t)(next(state) % 3);
        bytes[bindings[i].length - 1] = (uint8_t)(next(state) % 3);
    }
    return record(state, error);
}

static int fill(void *context, struct ingot_range target, struct ingot_bytes pattern, struct ingot_error *error) {
    check_range(target);
    require(target.length > 0, "an empty fill");
    require(pattern.size == 1 || pattern.size == 2 || pattern.size == 4, "a pattern of another size");
    for (uint64_t i = 0; i < target.length; i++)
        target.buffer->bytes[target.offset + i] = ((const uint8_t *)pattern.data)[i % pattern.size];
    return record(context, error);
}

static int copy(void *context, struct ingot_range source, struct ingot_range target, struct ingot_error *error) {
    check_range(source);
    check_range(target);
    require(source.length > 0 && source.length == target.length, "a copy of two lengths");
    memmove(target.buffer->bytes + target.offset, source.buffer->bytes + source.offset, (size_t)source.length);
    return record(context, error);
}

static int barrier(void *context, struct ingot_error *error) { return record(context, error); }

static int submit(void *context, struct ingot_error *error) {
    struct checking *state = context;
    state->is_recording = 0;
    return fails(state, error);
}

static void discard(void *context) { ((struct checking *)context)->is_recording = 0; }

void checking_device_open(struct ingot_device *device, struct checking *state, const char *api) {
    *device = (struct ingot_device){
        .context = state,
        .api = api,
        .platform = "macosx",
        .family = UINT32_MAX,
        .simd_width = 32,
        .has_feature = has_feature,
        .allocate = allocate,
        .contents = contents,
        .release = release,
        .pipeline = make_pipeline,
        .release_pipeline = release_pipeline,
        .dispatch = dispatch,
        .fill = fill,
        .copy = copy,
        .barrier = barrier,
        .submit = submit,
        .discard = discard,
    };
}
