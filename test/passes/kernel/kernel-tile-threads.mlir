// RUN: ingot-opt %s -p 'kernel-tile-threadgroups,kernel-tile-threads' | filecheck %s

// CHECK-LABEL: func.func private @elementwise
// CHECK: scf.forall (%{{.*}}) in (7) shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<112x64xf32>)
// CHECK: %[[T:.*]] = scf.forall (%[[I:.*]], %[[J:.*]]) in (16, 16) shared_outs(%[[P:.*]] = %{{.*}}) -> (tensor<16x64xf32>)
// CHECK-NEXT: %[[COL:.*]] = affine.apply affine_map<(d0) -> ((d0 * 4))> (%[[J]])
// CHECK-NEXT: tensor.extract_slice %{{.*}}[%[[I]], %[[COL]]] [1, 4] [1, 1] : tensor<16x64xf32> to tensor<1x4xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x4xf32>)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[P]][%[[I]], %[[COL]]] [1, 4] [1, 1]
// CHECK: mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]
// CHECK: tensor.parallel_insert_slice %[[T]] into %[[O]]
func.func private @elementwise(%x: tensor<112x64xf32>) -> tensor<112x64xf32> attributes {ingot.kernel, ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 16, 64>, thread = array<i64: 1, 4>, threads = 256 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>}} {
  %0 = tensor.empty() : tensor<112x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<112x64xf32>) outs(%0 : tensor<112x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = math.exp %in : f32
    linalg.yield %2 : f32
  } -> tensor<112x64xf32>
  return %1 : tensor<112x64xf32>
}

// The ops of a row kernel stay with the threadgroup.
// CHECK-LABEL: func.func private @row
// CHECK: scf.forall (%{{.*}}) in (64)
// CHECK-NOT: #gpu.thread
// CHECK: return
func.func private @row(%x: tensor<64x1000xf32>) -> tensor<64xf32> attributes {ingot.kernel, ingot.kind = "row", ingot.row_dims = 1 : i64, ingot.schedule = {kind = "row", threadgroup = array<i64: 1>, thread = array<i64: 1>, threads = 256 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>, unroll = 8 : i64}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1000xf32>) outs(%1 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %out, %in : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  return %2 : tensor<64xf32>
}
