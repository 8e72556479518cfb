// RUN: ingot-opt %s -p 'kernel-tile-threadgroups,kernel-tile-threads,kernel-tile-reduction' | filecheck %s

// The loop over k carries the threadgroup's tile; its last tile is what is left of k.
// CHECK-LABEL: func.func private @matmul
// CHECK: %[[C:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<32x32xf32>)
// CHECK-NEXT: %[[LEFT:.*]] = affine.min affine_map<(d0) -> (16, ((d0 * -1) + 40))> (%[[K]])
// CHECK-NEXT: %[[A:.*]] = tensor.extract_slice %{{.*}}[0, %[[K]]] [32, %[[LEFT]]] [1, 1]
// CHECK-NEXT: %[[B:.*]] = tensor.extract_slice %{{.*}}[%[[K]], 0] [%[[LEFT]], 32] [1, 1]
// CHECK-NEXT: %[[D:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<32x?xf32>, tensor<?x32xf32>) outs(%[[ACC]] : tensor<32x32xf32>)
// CHECK: scf.yield %[[D]]
// CHECK: tensor.parallel_insert_slice %[[C]]
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
