// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --print-op-generic | ingot-opt | filecheck %s

// As torch-mlir prints them.

// CHECK-LABEL: func.func @scan
// CHECK:         tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<16x32xf32>) outs(%o, %a : tensor<16x32xf32>, tensor<16xf32>) {
// CHECK:           tm_tensor.yield
// CHECK:         } -> (tensor<16x32xf32>, tensor<16xf32>)
func.func @scan(%x: tensor<16x32xf32>, %o: tensor<16x32xf32>, %a: tensor<16xf32>) -> tensor<16x32xf32> {
  %0:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<16x32xf32>) outs(%o, %a : tensor<16x32xf32>, tensor<16xf32>) {
  ^bb0(%b: f32, %c: f32):
    %1 = arith.addf %b, %c : f32
    tm_tensor.yield %1 : f32
  } -> tensor<16x32xf32>, tensor<16xf32>
  return %0#0 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @sort
// CHECK:         tm_tensor.sort dimension(0) outs(%x, %i : tensor<8xf32>, tensor<8xi64>) {
func.func @sort(%x: tensor<8xf32>, %i: tensor<8xi64>) -> tensor<8xf32> {
  %0:2 = tm_tensor.sort dimension(0) outs(%x, %i : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %1 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %1 : i1
  } -> tensor<8xf32>, tensor<8xi64>
  return %0#0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @scatter
// CHECK:         tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i : tensor<3xi64>, tensor<3x1xi32>) outs(%o : tensor<8xi64>) {
func.func @scatter(%u: tensor<3xi64>, %i: tensor<3x1xi32>, %o: tensor<8xi64>) -> tensor<8xi64> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i : tensor<3xi64>, tensor<3x1xi32>) outs(%o : tensor<8xi64>) {
  ^bb0(%a: i64, %b: i64):
    %1 = arith.addi %a, %b : i64
    tm_tensor.yield %1 : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}
