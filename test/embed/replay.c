/* replay FILE...: gives inputs to the fuzzer's target without a fuzzer. A file has any number of them, each
 * behind its size in four bytes; the number of the input that ends us is the last one printed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
    (void)data, (void)most;
    return size;
}

int main(int count, char **words) {
    LLVMFuzzerInitialize(&count, &words);
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(words[i], "rb");
        uint32_t size, number = 0;
        if (!file) return 2;
        while (fread(&size, sizeof size, 1, file) == 1) {
            uint8_t *data = malloc(size + 1);
            if (!data || fread(data, 1, size, file) != size) return 2;
            fprintf(stderr, "\r%u ", (unsigned)number++);
            LLVMFuzzerTestOneInput(data, size);
            free(data);
        }
        fclose(file);
    }
    return 0;
}
