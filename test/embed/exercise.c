#include "exercise.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16, CAPACITY = 1 << 14, OPEN_SIZE = 5 };

/* Arguments and results of one function; 0 where it has too many or too large ones for a test. */
static int prepare(const struct ingot_bundle *bundle, uint32_t function, struct ingot_array *arguments,
                   struct ingot_array *results, uint8_t *bytes) {
    uint32_t inputs = ingot_argument_count(bundle, function), outputs = ingot_result_count(bundle, function);
    if (inputs + outputs > MOST) return 0;
    for (uint32_t i = 0; i < inputs; i++) {
        struct ingot_type type = ingot_argument_type(bundle, function, i);
        for (uint32_t k = 0; k < type.rank; k++)
            if (type.shape[k] < 0) type.shape[k] = OPEN_SIZE;
        if (ingot_byte_size(&type) > CAPACITY) return 0;
        arguments[i] = (struct ingot_array){bytes + i * CAPACITY, CAPACITY, type};
    }
    for (uint32_t i = 0; i < outputs; i++) {
        ingot_result_type(bundle, function, i);
        results[i] = (struct ingot_array){bytes + (inputs + i) * CAPACITY, CAPACITY, {0}};
    }
    return 1;
}

int exercise(const void *data, size_t size, struct ingot_bytes weights, const char *api, struct checking *state,
             struct ingot_error *error) {
    static uint8_t bytes[MOST * CAPACITY];
    struct ingot_bundle bundle;
    struct ingot_device device;
    struct ingot_array arguments[MOST], results[MOST];
    int status = ingot_open(&bundle, data, size, error);
    if (status) return status;
    bundle.weights = weights;
    ingot_find(&bundle, "none");
    checking_device_open(&device, state, api);
    struct ingot_program *program = ingot_load(&bundle, &device, error);
    if (!program) return 1;
    for (uint32_t i = 0; !status && i < bundle.functions; i++) {
        ingot_function_name(&bundle, i);
        if (prepare(&bundle, i, arguments, results, bytes))
            status = ingot_call(program, (int)i, arguments, results, error);
    }
    ingot_unload(program);
    return status;
}
