/* run_bundle BUNDLE FUNCTION [SHAPE=FILE]... -- [CAPACITY=FILE]...: calls a function with raw files. */
#include "ingot.h"
#include "ingot_vulkan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static int fail(const char *sentence) {
    fprintf(stderr, "error: %s\n", sentence);
    return 1;
}

static void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *data = aligned_alloc(64, (*size + 127) / 64 * 64);
    if (data && fread(data, 1, *size, file) != *size) data = NULL;
    fclose(file);
    return data;
}

static void read_shape(const char *text, struct ingot_type *type) {
    for (uint32_t i = 0; i < type->rank; i++) {
        char *end;
        type->shape[i] = strtoll(text, &end, 10);
        text = *end == 'x' ? end + 1 : end;
    }
}

/* The weights of a bundle, from the file beside it. */
static struct ingot_bytes read_weights(const struct ingot_bundle *bundle, const char *path) {
    char name[1024];
    size_t size = 0;
    struct ingot_text file = ingot_weights_file(bundle);
    const char *end = strrchr(path, '/');
    if (!file.size) return (struct ingot_bytes){NULL, 0};
    snprintf(name, sizeof name, "%.*s%s", end ? (int)(end + 1 - path) : 0, path, file.data);
    void *data = read_file(name, &size);
    return (struct ingot_bytes){data, size};
}

int main(int count, char **words) {
    struct ingot_error error;
    struct ingot_bundle bundle;
    struct ingot_device device;
    struct ingot_array arguments[MOST] = {0}, results[MOST] = {0};
    char *outputs[MOST];
    size_t size;
    if (count < 4) return fail("too few words");
    void *data = read_file(words[1], &size);
    if (!data) return fail("cannot read the bundle");
    if (ingot_open(&bundle, data, size, &error)) return fail(error.message);
    bundle.weights = read_weights(&bundle, words[1]);
    int function = ingot_find(&bundle, words[2]), word = 3;
    if (function < 0) return fail("no such function");
    for (uint32_t i = 0; word < count && strcmp(words[word], "--"); word++, i++) {
        char *path = strchr(words[word], '=');
        arguments[i].type = ingot_argument_type(&bundle, (uint32_t)function, i);
        read_shape(words[word], &arguments[i].type);
        arguments[i].data = read_file(path + 1, &size);
        arguments[i].capacity = size;
    }
    for (uint32_t i = 0; ++word < count; i++) {
        char *path = strchr(words[word], '=');
        results[i].capacity = strtoull(words[word], NULL, 10);
        results[i].data = malloc((size_t)results[i].capacity + 1);
        outputs[i] = path + 1;
    }
    if (ingot_vulkan_open(&device, &error)) return fail(error.message);
    struct ingot_program *program = ingot_load(&bundle, &device, &error);
    if (!program) return fail(error.message);
    for (int turn = 0; turn < 2; turn++) /* a second call finds everything as the first left it */
        if (ingot_call(program, function, arguments, results, &error)) return fail(error.message);
    for (uint32_t i = 0; i < ingot_result_count(&bundle, (uint32_t)function); i++) {
        FILE *file = fopen(outputs[i], "wb");
        fwrite(results[i].data, 1, (size_t)ingot_byte_size(&results[i].type), file);
        fclose(file);
        for (uint32_t k = 0; k < results[i].type.rank; k++)
            printf("%s%" PRId64, k ? "x" : "", results[i].type.shape[k]);
        printf("\n");
    }
    ingot_unload(program);
    ingot_vulkan_close(&device);
    return 0;
}
