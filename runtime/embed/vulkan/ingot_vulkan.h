/* The device callbacks of Ingot for Vulkan 1.2, on the first device that can compute (or number
 * INGOT_VULKAN_DEVICE of the environment). Memory is host-visible, commands run when submitted. */
#ifndef INGOT_VULKAN_H
#define INGOT_VULKAN_H

#include "ingot.h"

int ingot_vulkan_open(struct ingot_device *device, struct ingot_error *error);
void ingot_vulkan_close(struct ingot_device *device); /* after all programs are unloaded */

#endif
