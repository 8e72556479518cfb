// RUN: ingot-opt %s -p 'fuse-multiply-add' | filecheck %s

// CHECK-LABEL: func.func @fused
// CHECK-NEXT: vector.fma %a, %b, %c : vector<4xf32>
// CHECK-NEXT: math.fma %x, %y, %z : f32
// CHECK-NEXT: func.return
func.func @fused(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>, %x: f32, %y: f32, %z: f32) -> (vector<4xf32>, f32) attributes {ingot.kernel} {
  %p = arith.mulf %a, %b : vector<4xf32>
  %s = arith.addf %c, %p : vector<4xf32>
  %q = arith.mulf %x, %y : f32
  %t = arith.addf %q, %z : f32
  func.return %s, %t : vector<4xf32>, f32
}

// A product with another use is not computed twice, and f16 keeps its rounding.
// CHECK-LABEL: func.func @kept
// CHECK: arith.mulf %x, %y : f32
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf %h, %h : f16
// CHECK-NEXT: arith.addf
func.func @kept(%x: f32, %y: f32, %h: f16) -> (f32, f32, f16) attributes {ingot.kernel} {
  %p = arith.mulf %x, %y : f32
  %s = arith.addf %p, %x : f32
  %q = arith.mulf %h, %h : f16
  %t = arith.addf %q, %h : f16
  func.return %p, %s, %t : f32, f32, f16
}

// So do the formulas that `expand-math` has put into functions.
// CHECK-LABEL: func.func private @ingot_formula
// CHECK-NEXT: math.fma %x, %x, %x : f32
func.func private @ingot_formula(%x: f32) -> f32 {
  %p = arith.mulf %x, %x : f32
  %s = arith.addf %p, %x : f32
  func.return %s : f32
}
