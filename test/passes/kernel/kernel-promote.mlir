// RUN: ingot-opt %s -p 'kernel-tile-threadgroups,kernel-tile-threads,kernel-tile-reduction,kernel-promote' | filecheck %s

// Both operands' tiles are copied to threadgroup memory in full size, padded with zeros at the edge of k.
// CHECK-LABEL: func.func private @matmul
// CHECK: scf.for
// CHECK: %[[A:.*]] = tensor.extract_slice %{{.*}}[0, %{{.*}}] [32, %{{.*}}] [1, 1] : tensor<32x40xf32> to tensor<32x?xf32>
// CHECK: %[[P:.*]] = tensor.pad %[[A]] low[0, 0] high[0, %{{.*}}]
// CHECK: } : tensor<32x?xf32> to tensor<32x16xf32>
// CHECK: %tile_a = bufferization.alloc_tensor() copy(%[[P]]) {memory_space = #gpu.address_space<workgroup>} : tensor<32x16xf32>
// CHECK: %tile_b = bufferization.alloc_tensor()
// CHECK: linalg.generic {{.*}} ins(%tile_a, %tile_b : tensor<32x16xf32>, tensor<16x32xf32>)
func.func private @matmul(%x: tensor<64x40xf32>, %y: tensor<40x32xf32>) -> tensor<64x32xf32> attributes {ingot.kernel, ingot.schedule = {kind = "contraction", threadgroup = array<i64: 32, 32>, thread = array<i64: 4, 4>, threads = 64 : i64, vector = 4 : i64, reduction = 16 : i64, promote = array<i64: 0, 1>}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64x32xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x40xf32>, tensor<40x32xf32>) outs(%1 : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %out, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// The input of a transposition is read along its rows, in tiles whose rows lie one bank apart.
// CHECK-LABEL: func.func private @transpose
// CHECK: %tile = bufferization.alloc_tensor() copy(%{{.*}}) {memory_space = #gpu.address_space<workgroup>, ingot.pitch = 33 : i64} : tensor<32x32xf32>
// CHECK: tensor.extract_slice %tile[%{{.*}}, %{{.*}}] [4, 1] [1, 1] : tensor<32x32xf32> to tensor<4x1xf32>
func.func private @transpose(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {ingot.kernel, ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 32, 32>, thread = array<i64: 1, 4>, threads = 256 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64: 0>}} {
  %0 = tensor.empty() : tensor<64x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
