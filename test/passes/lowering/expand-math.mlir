// RUN: ingot-opt %s -p 'expand-math' | filecheck %s
// RUN: ingot-opt %s -p 'expand-math{math=fast}' | filecheck %s --check-prefix=FAST
// RUN: ingot-opt %s -p 'expand-math{scale-division=true}' | filecheck %s --check-prefix=SCALE

// A long formula becomes a call; f16 is computed in f32. Fast mode leaves it to the target.
func.func @transcendental(%x: f32, %h: f16, %v: vector<4xf32>) -> (f32, f16, vector<4xf32>) attributes {ingot.kernel} {
  %a = math.exp %x : f32
  %b = math.tanh %h : f16
  %c = math.exp %v : vector<4xf32>
  return %a, %b, %c : f32, f16, vector<4xf32>
}
// CHECK-LABEL: func.func @transcendental
// CHECK:      %a = func.call @ingot_exp_f32(%x) : (f32) -> f32
// CHECK:      %[[H:.*]] = arith.extf %h : f16 to f32
// CHECK-NEXT: %[[T:.*]] = func.call @ingot_tanh_f32(%[[H]]) : (f32) -> f32
// CHECK-NEXT: %b = arith.truncf %[[T]] : f32 to f16
// CHECK:      %c = func.call @ingot_exp_4xf32(%v) : (vector<4xf32>) -> vector<4xf32>
// FAST-LABEL: func.func @transcendental
// FAST:       %a = math.exp %x : f32
// FAST:       func.call @ingot_tanh_f32

// NaN wins a maximum with a constant by the choice of the comparison.
func.func @relu(%x: f32) -> f32 attributes {ingot.kernel} {
  %zero = arith.constant 0.0 : f32
  %r = arith.maximumf %x, %zero : f32
  return %r : f32
}
// CHECK-LABEL: func.func @relu
// CHECK:      %[[BELOW:.*]] = arith.cmpf ole, %x, %zero : f32
// CHECK-NEXT: %r = arith.select %[[BELOW]], %zero, %x : f32
// FAST-LABEL: func.func @relu
// FAST:       arith.cmpf ogt, %x, %zero

// No lane divides by zero, and a divisor that is known to be harmless is left alone.
func.func @divide(%a: i32, %b: i32) -> (i32, i32) attributes {ingot.kernel} {
  %q = arith.divsi %a, %b : i32
  %c8 = arith.constant 8 : i32
  %r = arith.divsi %a, %c8 : i32
  return %q, %r : i32, i32
}
// CHECK-LABEL: func.func @divide
// CHECK:      %[[ZERO:.*]] = arith.cmpi eq, %b, %{{.*}} : i32
// CHECK:      %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %b : i32
// CHECK:      %[[Q:.*]] = arith.divsi %a, %[[SAFE]] : i32
// CHECK:      %q = arith.select %[[ZERO]], %{{.*}}, %[[Q]] : i32
// CHECK:      %r = arith.divsi %a, %c8 : i32

// Conversions saturate.
func.func @convert(%x: f32) -> i8 attributes {ingot.kernel} {
  %r = arith.fptosi %x : f32 to i8
  return %r : i8
}
// CHECK-LABEL: func.func @convert
// CHECK:      %[[SAFE:.*]] = arith.select %{{.*}}, %x, %{{.*}} : f32
// CHECK-NEXT: arith.fptosi %[[SAFE]] : f32 to i32
// CHECK:      %r = arith.select

// i1 is one bit of two's complement.
func.func @boolean(%a: i1, %b: i1) -> (i1, f32) attributes {ingot.kernel} {
  %s = arith.addi %a, %b : i1
  %f = arith.uitofp %s : i1 to f32
  return %s, %f : i1, f32
}
// CHECK-LABEL: func.func @boolean
// CHECK:      %s = arith.xori %a, %b : i1
// CHECK:      %f = arith.select %s, %{{.*}}, %{{.*}} : f32

// Extended integers are compared before they are extended.
func.func @compare(%a: i32) -> i1 attributes {ingot.kernel} {
  %w = arith.extsi %a : i32 to i64
  %c = arith.constant 9 : i64
  %r = arith.cmpi slt, %w, %c : i64
  return %r : i1
}
// CHECK-LABEL: func.func @compare
// CHECK:      %r = arith.cmpi slt, %a, %{{.*}} : i32

// Quotients and roots of f16 are computed in f32; a large divisor is scaled where the target asks.
func.func @quotients(%x: f32, %y: f32, %h: f16) -> (f32, f32, f16, f16) attributes {ingot.kernel} {
  %c3 = arith.constant 3.0 : f32
  %q = arith.divf %x, %y : f32
  %t = arith.divf %x, %c3 : f32
  %d = arith.divf %h, %h : f16
  %s = math.sqrt %h : f16
  return %q, %t, %d, %s : f32, f32, f16, f16
}
// CHECK-LABEL: func.func @quotients
// CHECK:       %q = arith.divf %x, %y : f32
// CHECK:       %d = arith.divf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:  %{{.*}} = arith.truncf %d : f32 to f16
// CHECK:       %s = math.sqrt %{{.*}} : f32
// CHECK-NEXT:  %{{.*}} = arith.truncf %s : f32 to f16
// SCALE-LABEL: func.func @quotients
// SCALE:       %q = func.call @ingot_divf_f32(%x, %y) : (f32, f32) -> f32
// SCALE-NEXT:  %t = arith.divf %x, %c3 : f32
// FAST-LABEL:  func.func @quotients
// FAST:        %d = arith.divf %h, %h : f16

// Classes of floats by comparisons; a clamp is two choices; sine and cosine are two calls.
func.func @classes(%x: f32) -> (i1, i1, f32, f32) attributes {ingot.kernel} {
  %n = math.isnan %x : f32
  %f = math.isfinite %x : f32
  %lo = arith.constant 0.0 : f32
  %c = math.clampf %x to [%lo, %x] : f32
  %s, %k = math.sincos %x : f32
  return %n, %f, %c, %s : i1, i1, f32, f32
}
// CHECK-LABEL: func.func @classes
// CHECK:       %n = arith.cmpf uno, %x, %x : f32
// CHECK:       %f = arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK:       func.call @ingot_maximumf_f32
// CHECK-NEXT:  %c = func.call @ingot_minimumf_f32
// CHECK-NEXT:  %s = func.call @ingot_sin_f32(%x)
// CHECK-NEXT:  %k = func.call @ingot_cos_f32(%x)

// Functions stand once, whoever calls them.
// CHECK:      func.func private @ingot_exp_f32(%x: f32) -> f32
// CHECK:      func.func private @ingot_tanh_f32
// CHECK:        func.call @ingot_expm1_f32
