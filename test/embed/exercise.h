/* Everything that an app can do with a bundle, on a checking device. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include "checking_device.h"

/* Opens the bundle, asks all there is to ask, loads and calls every function with small arguments.
 * 0, or the status of what failed first, with a sentence. `weights` may have no bytes. */
int exercise(const void *data, size_t size, struct ingot_bytes weights, const char *api, struct checking *state,
             struct ingot_error *error);

#endif
