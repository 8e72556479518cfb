#include "spirv.h"

#include <stdio.h>
#include <string.h>

enum { OP_ENTRY_POINT = 15, OP_EXECUTION_MODE = 16, OP_CAPABILITY = 17, OP_FUNCTION = 54, OP_DECORATE = 71 };
enum { GL_COMPUTE = 5, HEADER = 5, BINDING = 33, DESCRIPTOR_SET = 34, SIGNED_ZERO_INF_NAN_PRESERVE = 4461 };

/* The feature behind a capability (SPIR-V specification, section 3.31): "" for none, NULL if unknown here. */
static const char *feature_of(uint32_t capability) {
    static const struct {
        uint32_t capability;
        const char *feature;
    } known[] = {
        {0, ""}, /* Matrix */
        {1, ""}, /* Shader */
        {9, "float16"},
        {11, "int64"},
        {12, "int64-atomics"},
        {22, "int16"},
        {39, "int8"},
        {61, "subgroup-basic"},
        {62, "subgroup-vote"},
        {63, "subgroup-arithmetic"},
        {64, "subgroup-ballot"},
        {65, "subgroup-shuffle"},
        {66, "subgroup-shuffle-relative"},
        {67, "subgroup-clustered"},
        {68, "subgroup-quad"},
        {4433, "storage16"},
        {4434, "uniform-storage16"},
        {4441, "variable-pointers"},
        {4448, "storage8"},
        {4449, "uniform-storage8"},
        {4466, ""}, /* SignedZeroInfNanPreserve, a feature for each width of floats */
        {5345, "vulkan-memory-model"},
        {5346, "vulkan-memory-model-device"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].capability == capability) return known[i].feature;
    return NULL;
}

static int fail(struct ingot_error *error, const struct ingot_kernel *kernel, const char *how) {
    snprintf(error->message, sizeof error->message, "kernel '%.100s' %s", kernel->name.data, how);
    return 1;
}

static int check_feature(const char *feature, uint32_t capability, const struct ingot_kernel *kernel,
                         int (*has_feature)(void *context, struct ingot_text name), void *context,
                         struct ingot_error *error) {
    char how[80];
    if (feature && (!*feature || has_feature(context, (struct ingot_text){feature, (uint32_t)strlen(feature)}))) return 0;
    if (feature) snprintf(how, sizeof how, "needs %s, which the device lacks", feature);
    else snprintf(how, sizeof how, "needs SPIR-V's capability %u", (unsigned)capability);
    return fail(error, kernel, how);
}

int spirv_check(const uint32_t *words, size_t count, const struct ingot_kernel *kernel, const char *entry_point,
                int (*has_feature)(void *context, struct ingot_text name), void *context, struct ingot_error *error) {
    int has_entry = 0;
    if (count < HEADER || words[0] != 0x07230203) return fail(error, kernel, "has damaged SPIR-V");
    for (size_t at = HEADER; at < count;) {
        size_t length = words[at] >> 16;
        uint32_t opcode = words[at] & 0xffff;
        if (!length || length > count - at) return fail(error, kernel, "has damaged SPIR-V");
        if (opcode == OP_FUNCTION) break;
        if (opcode == OP_CAPABILITY && length == 2 &&
            check_feature(feature_of(words[at + 1]), words[at + 1], kernel, has_feature, context, error))
            return 1;
        if (opcode == OP_EXECUTION_MODE && length == 4 && words[at + 2] == SIGNED_ZERO_INF_NAN_PRESERVE) {
            char feature[32];
            snprintf(feature, sizeof feature, "special-values%u", (unsigned)words[at + 3]);
            if (check_feature(feature, 0, kernel, has_feature, context, error)) return 1;
        }
        if (opcode == OP_DECORATE && length == 4 &&
            ((words[at + 2] == BINDING && words[at + 3] >= kernel->bindings) ||
             (words[at + 2] == DESCRIPTOR_SET && words[at + 3])))
            return fail(error, kernel, "uses a buffer that the bundle does not bind");
        if (opcode == OP_ENTRY_POINT && length > 3 && words[at + 1] == GL_COMPUTE) {
            const char *name = (const char *)(words + at + 3);
            size_t most = 4 * (length - 3), size = strlen(entry_point);
            has_entry |= size < most && !memcmp(name, entry_point, size + 1);
        }
        at += length;
    }
    return has_entry ? 0 : fail(error, kernel, "has no such entry point in its SPIR-V");
}
