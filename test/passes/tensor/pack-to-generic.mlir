// RUN: ingot-opt %s -p 'pack-to-generic' | filecheck %s

// CHECK-LABEL: func.func @pack
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (((d1 * 4) + d2), ((d0 * 2) + d3))>
func.func @pack(%x: tensor<8x6xf32>, %o: tensor<3x2x4x2xf32>) -> tensor<3x2x4x2xf32> {
  %0 = linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %o : tensor<8x6xf32> -> tensor<3x2x4x2xf32>
  return %0 : tensor<3x2x4x2xf32>
}

// CHECK-LABEL: func.func @padded
// CHECK:         tensor.extract %x
// CHECK:         arith.select {{.*}}, %c : f32
func.func @padded(%x: tensor<7xf32>, %o: tensor<2x4xf32>, %c: f32) -> tensor<2x4xf32> {
  %0 = linalg.pack %x padding_value(%c : f32) inner_dims_pos = [0] inner_tiles = [4] into %o : tensor<7xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @unpack
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0) -> ((d0 floordiv 4), (d0 mod 4))>
func.func @unpack(%x: tensor<2x4xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  %0 = tensor.unpack %x inner_dims_pos = [0] inner_tiles = [4] into %o : tensor<2x4xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
