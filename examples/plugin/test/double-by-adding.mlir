// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(double-by-adding))' | filecheck %s
// RUN: ingot-opt %s --double-by-adding --canonicalize | filecheck %s --check-prefix=CLEAN

// CHECK-LABEL: func.func @twice
// CHECK:         arith.addf %x, %x : f32
// CHECK-LABEL: func.func @thrice
// CHECK:         arith.mulf %x, %three : f32

// The constant is not needed any more.
// CLEAN-LABEL: func.func @twice
// CLEAN-NEXT:    %[[SUM:.*]] = arith.addf %x, %x : f32
// CLEAN-NEXT:    return %[[SUM]] : f32

func.func @twice(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %0 = arith.mulf %two, %x : f32
  return %0 : f32
}

func.func @thrice(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %0 = arith.mulf %x, %three : f32
  return %0 : f32
}
