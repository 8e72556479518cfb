/* The device callbacks of Ingot for Metal on macOS and iOS, on the system's GPU. Memory is shared with
 * the CPU, commands run when submitted. Link Metal and Foundation; needs the SDK of Xcode 16 or newer. */
#ifndef INGOT_METAL_H
#define INGOT_METAL_H

#include "ingot.h"

int ingot_metal_open(struct ingot_device *device, struct ingot_error *error);
void ingot_metal_close(struct ingot_device *device); /* after all programs are unloaded */

#endif
