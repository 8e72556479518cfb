/* An app that runs softmax from a bundle in a file. See README.md for how to build it. */
#include "ingot.h"
#include "ingot_vulkan.h"

#include <stdio.h>
#include <stdlib.h>

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

int main(int count, char **words) {
    static float x[64][1000], y[64][1000];
    struct ingot_error error;
    struct ingot_bundle bundle;
    struct ingot_device device;
    size_t size = 0;
    void *data = count > 1 ? read_file(words[1], &size) : NULL;
    if (!data) return puts("usage: app softmax.ingot"), 2;
    if (ingot_open(&bundle, data, size, &error)) return puts(error.message), 1;
    if (ingot_vulkan_open(&device, &error)) return puts(error.message), 1;
    struct ingot_program *program = ingot_load(&bundle, &device, &error);
    if (!program) return puts(error.message), 1;

    for (int i = 0; i < 64; i++)
        for (int k = 0; k < 1000; k++) x[i][k] = (float)((i + k) % 7);
    int softmax = ingot_find(&bundle, "softmax");
    struct ingot_array argument = {x, sizeof x, ingot_argument_type(&bundle, 0, 0)};
    struct ingot_array result = {y, sizeof y, {0}};
    if (ingot_call(program, softmax, &argument, &result, &error)) return puts(error.message), 1;

    double sum = 0;
    for (int k = 0; k < 1000; k++) sum += y[0][k];
    printf("the first row sums to %.4f\n", sum);
    ingot_unload(program);
    ingot_vulkan_close(&device);
    free(data);
    return 0;
}
