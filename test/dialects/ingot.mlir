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

// CHECK-LABEL: func.func @sort
// CHECK:         %keys, %ids = ingot.sort dimension = 1 ins(%x, %i : tensor<4x8xf32>, tensor<4x8xi32>) {
// CHECK-NEXT:    ^bb0(%a: f32, %b: f32, %ia: i32, %ib: i32):
// CHECK:           ingot.yield %before : i1
func.func @sort(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %keys, %ids = ingot.sort dimension = 1 ins(%x, %i : tensor<4x8xf32>, tensor<4x8xi32>) {
  ^bb0(%a: f32, %b: f32, %ia: i32, %ib: i32):
    %before = arith.cmpf olt, %a, %b : f32
    ingot.yield %before : i1
  }
  return %ids : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @scatter
// CHECK:         ingot.scatter unique dimensions = [0] ins(%indices, %updates : tensor<9x1xi32>, tensor<9x4xf32>) outs(%table : tensor<100x4xf32>) {
// CHECK-NEXT:    ^bb0(%old: f32, %update: f32):
// CHECK:           ingot.yield %new : f32
func.func @scatter(%table: tensor<100x4xf32>, %indices: tensor<9x1xi32>, %updates: tensor<9x4xf32>) -> tensor<100x4xf32> {
  %r = ingot.scatter unique dimensions = [0] ins(%indices, %updates : tensor<9x1xi32>, tensor<9x4xf32>) outs(%table : tensor<100x4xf32>) {
  ^bb0(%old: f32, %update: f32):
    %new = arith.addf %old, %update : f32
    ingot.yield %new : f32
  }
  return %r : tensor<100x4xf32>
}
