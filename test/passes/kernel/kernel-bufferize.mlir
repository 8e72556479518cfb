// RUN: ingot-opt %s -p 'kernel-tile-threadgroups,kernel-tile-threads,kernel-bufferize' | filecheck %s

// Results become arguments; each thread writes its tile in place.
// CHECK-LABEL: func.func private @elementwise
// CHECK-SAME: (%x: memref<112x64xf32>, %out: memref<112x64xf32>)
// CHECK-SAME: ingot.access = ["read", "write"], ingot.names = ["x", "out"], ingot.workgroup_size = array<i64: 256, 1, 1>
// CHECK: bufferization.to_tensor %x restrict : memref<112x64xf32>
// CHECK-NEXT: scf.forall (%{{.*}}) in (7) {
// CHECK: %[[G:.*]] = memref.subview %out[%{{.*}}, 0] [16, 64] [1, 1] : memref<112x64xf32> to memref<16x64xf32, strided<[64, 1], offset: ?>>
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (16, 16) {
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: %[[V:.*]] = memref.subview %[[G]][%{{.*}}, %{{.*}}] [1, 4] [1, 1]
// CHECK: bufferization.materialize_in_destination %[[E]] in restrict writable %[[V]]
// CHECK: func.return
// CHECK-NOT: tensor.parallel_insert_slice
func.func private @elementwise(%x: tensor<112x64xf32>) -> tensor<112x64xf32> attributes {ingot.kernel, ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 16, 64>, thread = array<i64: 1, 4>, threads = 256 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>}} {
  %0 = tensor.empty() : tensor<112x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<112x64xf32>) outs(%0 : tensor<112x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = math.exp %in : f32
    linalg.yield %2 : f32
  } -> tensor<112x64xf32>
  return %1 : tensor<112x64xf32>
}
