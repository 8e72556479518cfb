/* open_bundle FILE...: prints for each whether it is a bundle, or why not; reads nothing else. */
#include "ingot.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(words[i], "rb");
        if (!file) return 2;
        fseek(file, 0, SEEK_END);
        size_t size = (size_t)ftell(file);
        rewind(file);
        void *data = aligned_alloc(64, (size + 127) / 64 * 64);
        if (!data || fread(data, 1, size, file) != size) return 2;
        struct ingot_bundle bundle;
        struct ingot_error error;
        int status = ingot_open(&bundle, data, size, &error);
        printf("%s\n", status ? error.message : "ok");
        free(data);
        fclose(file);
    }
    return 0;
}
