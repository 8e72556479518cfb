// MSL's keywords; last, so that the headers above see plain C++.
#pragma once

#if INGOT_CHECK
#define device __global
#define constant __constant
#define threadgroup __local
#define thread __private
#define kernel __kernel
#else
#define device
#define constant const
#define threadgroup
#define thread
#define kernel
#endif
// Function constants are left undefined, so that their defaults hold.
#define is_function_constant_defined(name) false
// Barriers are opaque calls, and atomics say what they are.
#define volatile
#define coherent(scope)
