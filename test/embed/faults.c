/* faults BUNDLE [WEIGHTS]: lets everything that can fail do so, once each: allocations (malloc is wrapped
 * by the linker), callbacks, with VULKAN the calls of the driver. Each time there must be a sentence,
 * nothing left behind, and the same call must work right after. */
#include "checking_device.h"
#ifdef VULKAN
#include "ingot_vulkan.h"
#include <vulkan/vulkan.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, CAPACITY = 1 << 16, ENOUGH = 10000 };

static long countdown; /* failures happen when it reaches 0 */

int fault_is_due(void) { return countdown > 0 && --countdown == 0; }

#ifdef VULKAN
VkResult fault_code;
#endif

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size) { return fault_is_due() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return fault_is_due() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return fault_is_due() ? NULL : __real_realloc(old, size); }

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

struct file { void *data; size_t size; };

static struct file read_file(const char *path) {
    struct file file = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    require(stream != NULL, "cannot open a file");
    fseek(stream, 0, SEEK_END);
    file.size = (size_t)ftell(stream);
    rewind(stream);
    file.data = aligned_alloc(64, (file.size + 127) / 64 * 64);
    require(file.data && fread(file.data, 1, file.size, stream) == file.size, "cannot read a file");
    fclose(stream);
    return file;
}

static int call(struct ingot_program *program, const struct ingot_bundle *bundle, struct ingot_error *error) {
    static uint8_t bytes[MOST * CAPACITY];
    struct ingot_array arguments[MOST], results[MOST];
    uint32_t inputs = ingot_argument_count(bundle, 0), outputs = ingot_result_count(bundle, 0);
    require(inputs + outputs <= MOST, "too many arguments");
    for (uint32_t i = 0; i < inputs; i++) {
        struct ingot_type type = ingot_argument_type(bundle, 0, i);
        for (uint32_t k = 0; k < type.rank; k++)
            if (type.shape[k] < 0) type.shape[k] = 5;
        arguments[i] = (struct ingot_array){bytes + i * CAPACITY, CAPACITY, type};
        for (int k = 0; k < CAPACITY / 4; k++) ((float *)arguments[i].data)[k] = 1;
    }
    for (uint32_t i = 0; i < outputs; i++)
        results[i] = (struct ingot_array){bytes + (inputs + i) * CAPACITY, CAPACITY, {0}};
    return ingot_call(program, 0, arguments, results, error);
}

static int open_device(struct ingot_device *device, struct checking *state, struct ingot_error *error) {
    *state = (struct checking){.memory = 1 << 22, .commands = UINT64_MAX};
#ifdef VULKAN
    return ingot_vulkan_open(device, error);
#else
    checking_device_open(device, state, "vulkan");
    (void)error;
    return 0;
#endif
}

static void close_device(struct ingot_device *device) {
#ifdef VULKAN
    ingot_vulkan_close(device);
#else
    (void)device;
#endif
}

/* Everything from opening the bundle on; 1 where something failed. */
static int attempt(struct file file, struct ingot_bytes weights, struct ingot_error *error) {
    struct ingot_bundle bundle;
    struct ingot_device device;
    struct checking state;
    if (ingot_open(&bundle, file.data, file.size, error)) return 1;
    bundle.weights = weights;
    if (open_device(&device, &state, error)) return 1;
    struct ingot_program *program = ingot_load(&bundle, &device, error);
    int status = program ? call(program, &bundle, error) : 1;
    if (program && status) {
        struct ingot_error second;
        countdown = 0;
        require(!call(program, &bundle, &second), "the call after a failure fails, too");
    }
    ingot_unload(program);
    require(!state.live, "something was not given back");
    close_device(&device);
    return status;
}

/* Lets the first, the second, ... allocation or driver's call fail until there are no more. */
static void fail_all(struct file file, struct ingot_bytes weights) {
    for (long n = 1; n < ENOUGH; n++) {
        struct ingot_error error = {{0}};
        countdown = n;
        int status = attempt(file, weights, &error);
        if (!status) {
            require(countdown > 0, "a failure was swallowed");
            printf("%ld faults\n", n - 1);
            countdown = 0;
            return;
        }
        require(error.message[0] != 0, "an error has no sentence");
        countdown = 0;
    }
    require(0, "too many faults");
}

#ifndef VULKAN
static void fail_callbacks(struct file file, struct ingot_bytes weights) {
    struct ingot_bundle bundle;
    struct ingot_device device;
    struct checking state;
    struct ingot_error error;
    require(!ingot_open(&bundle, file.data, file.size, &error), "the bundle is refused");
    bundle.weights = weights;
    for (uint64_t n = 1; n < ENOUGH; n++) {
        open_device(&device, &state, &error);
        state.fail_at = n;
        struct ingot_program *program = ingot_load(&bundle, &device, &error);
        int status = program ? call(program, &bundle, &error) : 1;
        require(!status == (state.calls < n), "a failure was swallowed");
        require(!status || !strncmp(error.message, "callback ", 9), "an error has another sentence");
        require(!state.is_recording, "commands were neither run nor discarded");
        state.fail_at = 0;
        if (program) require(!call(program, &bundle, &error), "the call after a failure fails, too");
        ingot_unload(program);
        require(!state.live, "something was not given back");
        if (!status) {
            printf("%d callbacks\n", (int)n - 1);
            return;
        }
    }
    require(0, "too many callbacks");
}
#endif

int main(int count, char **words) {
    require(count > 1, "too few words");
    struct file file = read_file(words[1]), weights = {NULL, 0};
    if (count > 2) weights = read_file(words[2]);
    struct ingot_bytes bytes = {weights.data, weights.size};
#ifdef VULKAN
    static const VkResult codes[] = {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST};
    for (int i = 0; i < 2; i++) {
        fault_code = codes[i];
        fail_all(file, bytes);
    }
#else
    fail_all(file, bytes);
    fail_callbacks(file, bytes);
#endif
    free(file.data);
    free(weights.data);
    return 0;
}
