/* A libFuzzer target: the C library on any bytes. An input is a bundle, its weights, and four bytes
 * with the size of the weights. Memory that the library takes is held to the input's size. */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */

#include "exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                              void (*released)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *pointer);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

enum { BASE = 1 << 20, FACTOR = 16 };

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static int counting;
static size_t live, most;

static void on_malloc(const volatile void *pointer, size_t size) {
    (void)pointer;
    if (!counting) return;
    live += size;
    if (live <= most) return;
    counting = 0;
    fprintf(stderr, "%zu bytes were allocated, %zu are the most\n", live, most);
    abort();
}

static void on_free(const volatile void *pointer) {
    if (counting && pointer) live -= __sanitizer_get_allocated_size(pointer);
}

static void on_memory(int own) { counting = !own; }

int LLVMFuzzerInitialize(int *count, char ***words) {
    (void)count, (void)words;
    return __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free), 0;
}

static uint32_t word_at(const uint8_t *data) {
    return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

/* Bytes of an input that are the bundle. */
static size_t bundle_size(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    uint32_t weights = word_at(data + size - 4);
    return size - 4 - (weights < size - 4 ? weights : size - 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    size_t length = bundle_size(data, size);
    struct ingot_bytes weights = {NULL, size - 4 - length};
    void *bundle = NULL, *file = malloc((size_t)weights.size + 1);
    if (!file || posix_memalign(&bundle, 64, length + !length)) abort();
    memcpy(bundle, data, length);
    memcpy(file, data + length, (size_t)weights.size);
    if (weights.size) weights.data = file;
    static const char *const apis[] = {"metal", "vulkan"};
    for (int i = 0; i < 2; i++) {
        struct ingot_error error = {{0}};
        struct checking state = {.memory = 1 << 20, .commands = 200, .noise = (uint32_t)size, .on_memory = on_memory};
        live = 0, most = BASE + FACTOR * size, counting = 1;
        int status = exercise(bundle, length, weights, apis[i], &state, &error);
        counting = 0;
        require(!state.live, "something was not given back");
        require(!state.is_recording, "commands were neither run nor discarded");
        require(!status || error.message[0], "an error has no sentence");
    }
    free(bundle);
    free(file);
    return 0;
}

/* Keeps the size that the bundle says it has in step with the one it has, so that mutations get past it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, capacity);
    size_t length = bundle_size(data, size);
    if (length < 8 || seed % 16 == 0) return size;
    uint64_t root = word_at(data);
    if (root > length - 4) return size;
    uint64_t vtable = root - (uint64_t)(int64_t)(int32_t)word_at(data + root);
    if (vtable > length || length - vtable < 10) return size;
    uint64_t field = root + (data[vtable + 8] | (uint64_t)data[vtable + 9] << 8);
    if (field > length || length - field < 8) return size;
    for (int i = 0; i < 8; i++) data[field + (uint64_t)i] = (uint8_t)((uint64_t)length >> (8 * i));
    return size;
}
