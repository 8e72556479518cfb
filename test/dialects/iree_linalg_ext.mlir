// RUN: ingot-opt %s --print-op-generic | ingot-opt | filecheck %s

// CHECK-LABEL: func.func @scatter
// CHECK:         iree_linalg_ext.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%u, %i : tensor<3xi32>, tensor<3x1xi32>) outs(%o : tensor<8xi32>)
// CHECK:           iree_linalg_ext.yield %a : i32
func.func @scatter(%o: tensor<8xi32>, %i: tensor<3x1xi32>, %u: tensor<3xi32>) -> tensor<8xi32> {
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %i : tensor<3xi32>, tensor<3x1xi32>) outs(%o : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    iree_linalg_ext.yield %a : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
