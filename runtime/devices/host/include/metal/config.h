// Scalar types, constants and the macros that hide the difference between the two modes.
#pragma once

#if defined(__OPENCL_CPP_VERSION__)
#define INGOT_CHECK 1
#define INGOT_DEVICE __global
#define INGOT_CONSTANT __constant
#define INGOT_THREADGROUP __local
#define INGOT_THREAD __private
#define INGOT_GENERIC __generic
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION __cl_clang_non_portable_kernel_param_types : enable
// A getter that also reads objects in the constant address space.
#define INGOT_GETTER(TYPE, NAME, ...)              \
  constexpr TYPE NAME() const { __VA_ARGS__ }      \
  constexpr TYPE NAME() const __constant { __VA_ARGS__ }
// Copies out of the constant address space, which implicit copy operations do not do.
#define INGOT_COPIES(CLASS, ...)                                     \
  CLASS(const CLASS&) = default;                                     \
  CLASS& operator=(const CLASS&) = default;                          \
  constexpr CLASS(const __constant CLASS& o) { __VA_ARGS__ }         \
  constexpr CLASS& operator=(const __constant CLASS& o) { __VA_ARGS__ return *this; }
#define INGOT_ASSIGN(CLASS, FROM, ...) \
  constexpr CLASS& operator=(FROM o) { __VA_ARGS__ return *this; }
// `constant T x = {};`
#define INGOT_CONSTANT_ZERO(...) constexpr __VA_ARGS__ {}
#define INGOT_SUBSCRIPT(TYPE, EXPR)                                                     \
  constexpr __global TYPE& operator[](size_t i) __global& { return EXPR; }              \
  constexpr __local TYPE& operator[](size_t i) __local& { return EXPR; }                \
  constexpr __private TYPE& operator[](size_t i) __private& { return EXPR; }            \
  constexpr const __private TYPE& operator[](size_t i) const __private& { return EXPR; }  \
  constexpr const __global TYPE& operator[](size_t i) const __global& { return EXPR; }  \
  constexpr const __local TYPE& operator[](size_t i) const __local& { return EXPR; }    \
  constexpr const __constant TYPE& operator[](size_t i) const __constant& { return EXPR; } \
  constexpr TYPE operator[](size_t i)&& { return EXPR; }
#define INGOT_CONVERSION(TYPE, EXPR)                         \
  constexpr operator TYPE() const { return EXPR; }           \
  constexpr operator TYPE() const __constant { return EXPR; }
#else
#define INGOT_CHECK 0
#define INGOT_DEVICE
#define INGOT_CONSTANT const
#define INGOT_THREADGROUP
#define INGOT_THREAD
#define INGOT_GENERIC
#define INGOT_GETTER(TYPE, NAME, ...) \
  constexpr TYPE NAME() const { __VA_ARGS__ }
#define INGOT_COPIES(CLASS, ...)
#define INGOT_ASSIGN(CLASS, FROM, ...)
#define INGOT_CONSTANT_ZERO(...)
#define INGOT_SUBSCRIPT(TYPE, EXPR)                            \
  constexpr TYPE& operator[](size_t i) { return EXPR; }        \
  constexpr const TYPE& operator[](size_t i) const { return EXPR; }
#define INGOT_CONVERSION(TYPE, EXPR) \
  constexpr operator TYPE() const { return EXPR; }
typedef _Float16 half;
constexpr half operator""h(long double x) { return static_cast<half>(x); }
constexpr half operator""h(unsigned long long x) { return static_cast<half>(x); }
#endif

#define INGOT_COMMA ,
#define INGOT_INLINE __attribute__((always_inline)) inline
#define METAL_FUNC inline __attribute__((__always_inline__))
#define METAL_CONSTEXPR_FUNC constexpr METAL_FUNC
#define METAL_CONST constant
#define __METAL__ 1
#ifndef __METAL_VERSION__
#define __METAL_VERSION__ 320
#endif
#define __HAVE_BFLOAT__ 1

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

namespace metal {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::ulong;
using ::ushort;
#if !INGOT_CHECK
using ::half;
#endif
}  // namespace metal

#ifndef INFINITY
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#endif
#define HUGE_VALF (__builtin_inff())
#define MAXFLOAT 3.40282347e+38f
#define FLT_MAX 3.40282347e+38f
#define FLT_MIN 1.17549435e-38f
#define FLT_EPSILON 1.1920929e-07f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define MAXHALF 65504.0h
#define HALF_MAX 65504.0h
#define HALF_MIN 6.103515625e-05h
#define HALF_EPSILON 9.765625e-04h
#define HALF_MANT_DIG 11
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffu
#define LONG_MAX 0x7fffffffffffffffl
#define LONG_MIN (-LONG_MAX - 1l)
#define ULONG_MAX 0xfffffffffffffffful
#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
#define M_PI_H 3.14159265358979323846h
#define M_E_H 2.71828182845904523536h
