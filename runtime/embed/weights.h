/* Constants that lie in a safetensors file beside the bundle. */
#ifndef INGOT_WEIGHTS_H
#define INGOT_WEIGHTS_H

#include "bundle.h"

/* Finds the data of every constant that is a weight: `data[i]` of constant i, NULL where the bundle
 * itself has it. What is missing from `bundle->weights`, or is not what it was when the bundle was
 * compiled, is an error. */
int weights_find(const struct ingot_bundle *bundle, const uint8_t **data, struct ingot_error *error);

#endif
