/* Names the functions of the bundles inside, and of the one beside it. */
#include "half.h"
#include "twice.h"

#include <stdio.h>
#include <stdlib.h>

static int show(const void *data, size_t size) {
    struct ingot_bundle bundle;
    struct ingot_error error;
    if (ingot_open(&bundle, data, size, &error)) {
        fprintf(stderr, "error: %s\n", error.message);
        return 1;
    }
    printf("%s\n", ingot_function_name(&bundle, 0).data);
    return 0;
}

int main(void) {
    if (show(half_bundle, half_bundle_size) || show(twice_bundle, twice_bundle_size)) return 1;
    FILE *file = fopen("square.ingot", "rb");
    if (!file) return perror("square.ingot"), 1;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    void *data = aligned_alloc(64, (size + 63) / 64 * 64);
    int status = !data || fread(data, 1, size, file) != size || show(data, size);
    free(data);
    fclose(file);
    return status;
}
