// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --print-op-generic | ingot-opt | filecheck %s

// CHECK-LABEL: func.func @forms
// CHECK:         tensor.rank %t : tensor<8x4xf32>
// CHECK:         tensor.bitcast %t : tensor<8x4xf32> to tensor<8x4xi32>
// CHECK:         tensor.generate %n {
// CHECK:         tensor.gather %t[%i] gather_dims([0]) unique : (tensor<8x4xf32>, tensor<5x1xindex>) -> tensor<5x1x4xf32>
// CHECK:         tensor.scatter {{%.*}} into %t[%i] scatter_dims([0]) unique : (tensor<5x1x4xf32>, tensor<8x4xf32>, tensor<5x1xindex>) -> tensor<8x4xf32>
// CHECK:         tensor.pack %t padding_value(%z : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %p : tensor<8x4xf32> -> tensor<2x4x2x2xf32>
// CHECK:         tensor.unpack {{%.*}} outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %t : tensor<2x4x2x2xf32> -> tensor<8x4xf32>
func.func @forms(%t: tensor<8x4xf32>, %n: index, %i: tensor<5x1xindex>, %z: f32, %p: tensor<2x4x2x2xf32>) {
  %0 = tensor.rank %t : tensor<8x4xf32>
  %1 = tensor.bitcast %t : tensor<8x4xf32> to tensor<8x4xi32>
  %2 = tensor.generate %n {
  ^bb0(%a: index):
    tensor.yield %z : f32
  } : tensor<?xf32>
  %3 = tensor.gather %t[%i] gather_dims([0]) unique : (tensor<8x4xf32>, tensor<5x1xindex>) -> tensor<5x1x4xf32>
  %4 = tensor.scatter %3 into %t[%i] scatter_dims([0]) unique : (tensor<5x1x4xf32>, tensor<8x4xf32>, tensor<5x1xindex>) -> tensor<8x4xf32>
  %5 = tensor.pack %t padding_value(%z : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %p : tensor<8x4xf32> -> tensor<2x4x2x2xf32>
  %6 = tensor.unpack %5 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %t : tensor<2x4x2x2xf32> -> tensor<8x4xf32>
  return
}
