// What is precompiled: the main file of a precompiled header cannot be a system header itself.
#include <metal_stdlib>
