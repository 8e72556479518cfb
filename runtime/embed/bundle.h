/* What bundle.c and program.c share: places in a bundle that was checked. */
#ifndef INGOT_BUNDLE_H
#define INGOT_BUNDLE_H

#include "flat.h"
#include "schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the sentence of an error, and is the status to return with it. */
int ingot_fail(struct ingot_error *error, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

struct view bundle_view(const struct ingot_bundle *bundle);
struct vector bundle_functions(struct view *view);
struct vector bundle_constants(struct view *view);
struct vector bundle_variants(struct view *view);
struct vector function_arguments(struct table function);
struct vector function_results(struct table function);
struct ingot_type parameter_type(struct vector parameters, uint32_t position);
struct ingot_type tensor_type(struct table type);
struct vector variant_kernels(struct table variant);
struct vector variant_bodies(struct table variant);
struct vector steps_of(struct table owner, int field);
struct table step_command(struct vector steps, uint32_t index, uint8_t *kind);
struct vector dispatch_bindings(struct table dispatch);

#endif
