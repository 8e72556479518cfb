"""What a name may not be: keywords, types, library functions and macros of MSL.

From the Metal Shading Language specification (keywords, types, the tables of functions) and the
C++ standard it builds on. A variable that hides a library function compiles until the function is
called beside it, so functions count as reserved too. The names of textures and samplers (`bias`,
`level`, `filter`) do not: compute kernels have no use for them, and buffers are called so.
"""

from __future__ import annotations

from itertools import product

_CPP_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast requires restrict return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor
xor_eq main std size_t ptrdiff_t uintptr_t intptr_t offsetof assert
"""

_MSL_KEYWORDS = """
kernel vertex fragment visible stitchable device constant thread threadgroup
threadgroup_imageblock ray_data object_data metal simd fast precise sampler half bfloat uchar ushort
uint ulong bfloat2 bfloat3 bfloat4 packed_bfloat2 packed_bfloat3 packed_bfloat4 array array_ref vec
matrix packed_vec simdgroup_matrix simdgroup_float8x8 simdgroup_half8x8 simdgroup_bfloat8x8 atomic
atomic_int atomic_uint atomic_bool atomic_ulong atomic_float memory_order memory_order_relaxed
mem_flags memory_scope thread_scope_simdgroup function_constant is_function_constant_defined
numeric_limits is_same enable_if conditional
"""

_ATTRIBUTES = """
thread_position_in_grid thread_position_in_threadgroup thread_index_in_threadgroup
threadgroup_position_in_grid threadgroups_per_grid threads_per_grid threads_per_threadgroup
threads_per_simdgroup thread_execution_width thread_index_in_simdgroup thread_index_in_quadgroup
simdgroup_index_in_threadgroup simdgroups_per_threadgroup quadgroup_index_in_threadgroup
quadgroups_per_threadgroup dispatch_threads_per_threadgroup dispatch_simdgroups_per_threadgroup
grid_origin grid_size stage_in push_constants gl_WorkGroupSize
"""

_FUNCTIONS = """
abs absdiff acos acosh addsat all any as_type asin asinh atan atan2 atan2pi atanh atanpi ceil clamp
clz copysign cos cosh cospi cross ctz degrees distance distance_squared divide dot erf erfc exp
exp10 exp2 expm1 extract_bits faceforward fabs fdim fence floor fma fmax fmax3 fmedian3 fmin fmin3
fmod fract frexp hadd hypot ilogb insert_bits isfinite isinf isnan isnormal isordered isunordered
ldexp length length_squared lgamma log log10 log1p log2 logb mad24 madhi madsat max max3 median3
mid min min3 mix modf mul24 mulhi nan nextafter normalize popcount pow powr radians reflect refract
remainder reverse_bits rhadd rint rotate round rsqrt saturate select sign signbit sin sincos sinh
sinpi smoothstep sqrt step subsat tan tanh tanpi tgamma transpose determinant trunc
threadgroup_barrier simdgroup_barrier
pack_float_to_unorm4x8 pack_float_to_snorm4x8 unpack_unorm4x8_to_float unpack_snorm4x8_to_float
atomic_load_explicit atomic_store_explicit atomic_exchange_explicit atomic_thread_fence
atomic_compare_exchange_weak_explicit atomic_fetch_add_explicit atomic_fetch_sub_explicit
atomic_fetch_and_explicit atomic_fetch_or_explicit atomic_fetch_xor_explicit
atomic_fetch_max_explicit atomic_fetch_min_explicit atomic_max_explicit atomic_min_explicit
simd_active_threads_mask simd_all simd_and simd_any simd_ballot simd_broadcast simd_broadcast_first
simd_is_first simd_is_helper_thread simd_max simd_min simd_or simd_prefix_exclusive_product
simd_prefix_exclusive_sum simd_prefix_inclusive_product simd_prefix_inclusive_sum simd_product
simd_shuffle simd_shuffle_and_fill_down simd_shuffle_and_fill_up simd_shuffle_down
simd_shuffle_rotate_down simd_shuffle_rotate_up simd_shuffle_up simd_shuffle_xor simd_sum simd_vote
simd_xor quad_all quad_and quad_any quad_ballot quad_broadcast quad_broadcast_first quad_is_first
quad_max quad_min quad_or quad_product quad_shuffle quad_shuffle_down quad_shuffle_up
quad_shuffle_xor quad_sum quad_vote quad_xor make_filled_simdgroup_matrix simdgroup_load
simdgroup_store simdgroup_multiply simdgroup_multiply_accumulate make_uniform prefetch
"""

_MACROS = """
INFINITY NAN MAXFLOAT MAXHALF MAXBFLOAT HUGE_VAL HUGE_VALF HUGE_VALH CHAR_BIT CHAR_MAX CHAR_MIN
SCHAR_MAX SCHAR_MIN UCHAR_MAX SHRT_MAX SHRT_MIN USHRT_MAX INT_MAX INT_MIN UINT_MAX LONG_MAX
LONG_MIN ULONG_MAX FP_ILOGB0 FP_ILOGBNAN NULL
"""

_SCALARS = "bool char uchar short ushort int uint long ulong half float"
_CONSTANT_STEMS = "E LOG2E LOG10E LN2 LN10 PI PI_2 PI_4 1_PI 2_PI 2_SQRTPI SQRT2 SQRT1_2"
_LIMIT_STEMS = "DIG MANT_DIG MAX_10_EXP MAX_EXP MIN_10_EXP MIN_EXP RADIX MAX MIN EPSILON TRUE_MIN"


def _reserved() -> frozenset[str]:
    words: set[str] = set()
    for block in (_CPP_KEYWORDS, _MSL_KEYWORDS, _ATTRIBUTES, _FUNCTIONS, _MACROS):
        words.update(block.split())
    for scalar, width in product(_SCALARS.split(), "234"):
        words |= {f"{scalar}{width}", f"packed_{scalar}{width}"}
    for scalar, columns, rows in product(("half", "float"), "234", "234"):
        words.add(f"{scalar}{columns}x{rows}")
    words |= {f"{sign}int{bits}_t" for sign, bits in product(("", "u"), (8, 16, 32, 64))}
    for stem, suffix in product(_CONSTANT_STEMS.split(), ("", "_F", "_H", "_BF")):
        words.add(f"M_{stem}{suffix}")
    for prefix, stem in product(("FLT", "HALF", "BFLT", "DBL"), _LIMIT_STEMS.split()):
        words.add(f"{prefix}_{stem}")
    return frozenset(words)


RESERVED: frozenset[str] = _reserved()
"""Every reserved word; names with a reserved prefix are handled by `msl_identifier`."""
