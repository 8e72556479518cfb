// <metal_type_traits>, and the traits that the other headers need.
#pragma once

namespace std {
template <class E>
class initializer_list {
  const E* begin_;
  size_t size_;
  constexpr initializer_list(const E* p, size_t n) : begin_(p), size_(n) {}

 public:
  typedef E value_type;
  constexpr initializer_list() : begin_(nullptr), size_(0) {}
  constexpr size_t size() const { return size_; }
  constexpr const E* begin() const { return begin_; }
  constexpr const E* end() const { return begin_ + size_; }
};
}  // namespace std

namespace metal {
using std::initializer_list;

template <class T, uint N> struct vec;
template <class T, uint N, class V = vec<T, N>> struct packed_vec;

template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;

template <bool B, class X, class Y> struct conditional { using type = X; };
template <class X, class Y> struct conditional<false, X, Y> { using type = Y; };
template <bool B, class X, class Y> using conditional_t = typename conditional<B, X, Y>::type;

template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> struct remove_cv { using type = remove_const_t<remove_volatile_t<T>>; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T*> : true_type {};
template <class T> constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> struct is_void : is_same<remove_cv_t<T>, void> {};
template <class...> using void_t = void;
template <class A, class B> struct is_convertible : bool_constant<__is_convertible(A, B)> {};
template <class A, class B> constexpr bool is_convertible_v = __is_convertible(A, B);
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> constexpr bool is_enum_v = __is_enum(T);
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T> struct underlying_type { using type = __underlying_type(T); };
template <class T> using underlying_type_t = typename underlying_type<T>::type;

template <class T> struct is_integral : false_type {};
template <class T> struct is_floating_point : false_type {};
template <class T> struct is_integral<const T> : is_integral<T> {};
template <class T> struct is_floating_point<const T> : is_floating_point<T> {};
template <class T, uint N> struct is_integral<vec<T, N>> : is_integral<T> {};
template <class T, uint N> struct is_floating_point<vec<T, N>> : is_floating_point<T> {};
template <class T> constexpr bool is_integral_v = is_integral<T>::value;
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T> struct is_arithmetic : bool_constant<is_arithmetic_v<T>> {};
#define INGOT_INTEGRAL(T) template <> struct is_integral<T> : true_type {};
INGOT_INTEGRAL(bool)
INGOT_INTEGRAL(char)
INGOT_INTEGRAL(signed char)
INGOT_INTEGRAL(uchar)
INGOT_INTEGRAL(short)
INGOT_INTEGRAL(ushort)
INGOT_INTEGRAL(int)
INGOT_INTEGRAL(uint)
INGOT_INTEGRAL(long)
INGOT_INTEGRAL(ulong)
#undef INGOT_INTEGRAL
template <> struct is_floating_point<float> : true_type {};
template <> struct is_floating_point<half> : true_type {};

template <class T> struct is_unsigned : false_type {};
template <> struct is_unsigned<bool> : true_type {};
template <> struct is_unsigned<uchar> : true_type {};
template <> struct is_unsigned<ushort> : true_type {};
template <> struct is_unsigned<uint> : true_type {};
template <> struct is_unsigned<ulong> : true_type {};
template <class T> constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T>
struct is_signed : bool_constant<is_arithmetic_v<T> && !is_unsigned_v<remove_cv_t<T>>> {};
template <class T> constexpr bool is_signed_v = is_signed<T>::value;
template <class T> struct make_unsigned { using type = T; };
template <> struct make_unsigned<char> { using type = uchar; };
template <> struct make_unsigned<signed char> { using type = uchar; };
template <> struct make_unsigned<short> { using type = ushort; };
template <> struct make_unsigned<int> { using type = uint; };
template <> struct make_unsigned<long> { using type = ulong; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> struct make_signed { using type = T; };
template <> struct make_signed<uchar> { using type = char; };
template <> struct make_signed<ushort> { using type = short; };
template <> struct make_signed<uint> { using type = int; };
template <> struct make_signed<ulong> { using type = long; };
template <class T> using make_signed_t = typename make_signed<T>::type;

template <class T> struct is_vector : false_type {};
template <class T, uint N> struct is_vector<vec<T, N>> : true_type {};
template <class T, uint N> struct is_vector<packed_vec<T, N>> : true_type {};
template <class T> constexpr bool is_vector_v = is_vector<remove_cv_t<T>>::value;
template <class T>
struct is_scalar : bool_constant<is_arithmetic_v<T> && !is_vector_v<T>> {};
template <class T> constexpr bool is_scalar_v = is_scalar<T>::value;
template <class T> struct make_scalar { using type = T; };
template <class T, uint N> struct make_scalar<vec<T, N>> { using type = T; };
template <class T, uint N> struct make_scalar<packed_vec<T, N>> { using type = T; };
template <class T> using make_scalar_t = typename make_scalar<T>::type;
template <class T> struct vec_elements : integral_constant<uint, 1> {};
template <class T, uint N> struct vec_elements<vec<T, N>> : integral_constant<uint, N> {};
template <class T, uint N> struct vec_elements<packed_vec<T, N>> : integral_constant<uint, N> {};

template <class T, class U> using ingot_differ = enable_if_t<!is_same_v<T, U>>;
template <uint N, class... A>
using ingot_components = enable_if_t<((vec_elements<A>::value + ...) == N)>;

// The vector type among the arguments of a component-wise function; no such type, no overload.
template <class A> struct ingot_vector_of { using type = void; };
template <class T, uint N> struct ingot_vector_of<vec<T, N>> { using type = vec<T, N>; };
template <class T, uint N> struct ingot_vector_of<packed_vec<T, N>> { using type = vec<T, N>; };
template <class... A> struct ingot_first_vector { using type = void; };
template <class A, class... R> struct ingot_first_vector<A, R...> {
  using own = typename ingot_vector_of<A>::type;
  using type = conditional_t<is_same_v<own, void>, typename ingot_first_vector<R...>::type, own>;
};
template <class T> struct ingot_not_void { using type = T; };
template <> struct ingot_not_void<void> {};
template <class... A>
using ingot_vector = typename ingot_not_void<typename ingot_first_vector<A...>::type>::type;
template <class V>
using ingot_if_floating = enable_if_t<is_floating_point_v<typename V::element_type>, V>;
template <class... A> using ingot_float_vector = ingot_if_floating<ingot_vector<A...>>;
template <class V, class T> struct ingot_rebind_impl;
template <class E, uint N, class T> struct ingot_rebind_impl<vec<E, N>, T> {
  using type = vec<T, N>;
};
template <class V, class T> using ingot_rebind = typename ingot_rebind_impl<V, T>::type;

// Makes a parameter that takes no part in template argument deduction.
template <class T> struct ingot_identity { using type = T; };
template <class T> using ingot_given = typename ingot_identity<T>::type;

// An lvalue as a prvalue: clang mishandles `c ? prvalue : lvalue` across address spaces.
template <class T> constexpr T ingot_value(T x) { return x; }

template <class T, class U> constexpr T as_type(U u) {
  static_assert(sizeof(T) == sizeof(U), "as_type: the types have different sizes");
#if INGOT_CHECK
  T t;
  __builtin_memcpy((INGOT_GENERIC void*)&t, (INGOT_GENERIC const void*)&u, sizeof t);
  return t;
#else
  return __builtin_bit_cast(T, u);
#endif
}
}  // namespace metal
using metal::as_type;
