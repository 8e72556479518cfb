// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --print-op-generic | ingot-opt | filecheck %s

// CHECK-LABEL: func.func @inclusive
// CHECK:         %s, %l = ingot.scan inclusive dimension = 1 ins(%x : tensor<3x5xf16>) outs(%e, %i : tensor<3x5xf32>, tensor<3xf32>) {
// CHECK-NEXT:    ^bb0(%acc: f32, %v: f16):
// CHECK:           ingot.yield %n : f32
func.func @inclusive(%x: tensor<3x5xf16>, %e: tensor<3x5xf32>, %i: tensor<3xf32>) -> tensor<3x5xf32> {
  %s, %l = ingot.scan inclusive dimension = 1 ins(%x : tensor<3x5xf16>) outs(%e, %i : tensor<3x5xf32>, tensor<3xf32>) {
  ^bb0(%acc: f32, %v: f16):
    %w = arith.extf %v : f16 to f32
    %n = arith.addf %acc, %w : f32
    ingot.yield %n : f32
  }
  return %s : tensor<3x5xf32>
}
