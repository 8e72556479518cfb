/* A device without kernels that ends the process where a command is not what the table of callbacks
 * promises: ranges inside their buffers, patterns, grids, the bindings of a kernel. */
#ifndef CHECKING_DEVICE_H
#define CHECKING_DEVICE_H

#include "ingot.h"

struct checking {
    uint64_t memory;   /* bytes that are left for buffers; beyond that it reports that there are none */
    uint64_t commands; /* that are left, so that every program ends */
    uint64_t fail_at;  /* number of the callback that reports a failure, from 1; 0: none */
    uint64_t calls;    /* of callbacks that may fail */
    uint64_t live;     /* buffers and pipelines that were not given back */
    uint32_t noise;    /* decides what kernels leave */
    int is_recording;
    void (*on_memory)(int own); /* told before and after the device takes memory for itself; or NULL */
};

void checking_device_open(struct ingot_device *device, struct checking *state, const char *api);

#endif
