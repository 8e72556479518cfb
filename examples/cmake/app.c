/* Runs the functions of two bundles that are a part of the program. */
#include "ingot_vulkan.h"
#include "saxpy.h"
#include "softmax.h"

#include <stdio.h>

static float x[64 * 1000], y[64 * 1000], a = 2;

static int fail(const struct ingot_error *error) {
    fprintf(stderr, "error: %s\n", error->message);
    return 1;
}

int main(void) {
    struct ingot_error error;
    struct ingot_device device;
    struct ingot_bundle bundles[2];
    if (ingot_vulkan_open(&device, &error)) return fail(&error);
    if (ingot_open(&bundles[0], softmax_bundle, softmax_bundle_size, &error)) return fail(&error);
    if (ingot_open(&bundles[1], saxpy_bundle, saxpy_bundle_size, &error)) return fail(&error);
    struct ingot_program *softmax = ingot_load(&bundles[0], &device, &error);
    if (!softmax) return fail(&error);
    struct ingot_program *saxpy = ingot_load(&bundles[1], &device, &error);
    if (!saxpy) return fail(&error);

    for (int i = 0; i < 64 * 1000; i++) x[i] = (float)(i % 7);
    if (softmax_softmax(softmax, x, y, &error)) return fail(&error);
    float sum = 0;
    for (int i = 0; i < 1000; i++) sum += y[i];
    printf("softmax: the first row sums to %.4f\n", sum);
    if (saxpy_saxpy(saxpy, &a, x, x, y, &error)) return fail(&error);
    printf("saxpy: 2 * %g + %g = %g\n", x[5], x[5], y[5]);
    ingot_unload(softmax);
    ingot_unload(saxpy);
    ingot_vulkan_close(&device);
    return 0;
}
