/* What a kernel's SPIR-V asks of a device, checked before a driver sees it: drivers may crash on a module
 * that needs what is not enabled, or on an entry point that is not there. This is no validator. */
#ifndef INGOT_SPIRV_H
#define INGOT_SPIRV_H

#include "ingot.h"

/* `words` are `count` words; `has_feature` is the device's callback, with its `context`. */
int spirv_check(const uint32_t *words, size_t count, const struct ingot_kernel *kernel, const char *entry_point,
                int (*has_feature)(void *context, struct ingot_text name), void *context, struct ingot_error *error);

#endif
