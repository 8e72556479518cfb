// RUN: ingot-opt %s -p 'kernel-tile-threadgroups' | filecheck %s

// Tiles that do not divide the tensor end in an affine.min; a dimension with one tile has no loop.
// CHECK-LABEL: func.func private @edges
// CHECK: %[[R:.*]] = scf.forall (%[[I:.*]]) in (7) shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<100x64xf32>)
// CHECK-NEXT: %[[OFF:.*]] = affine.apply affine_map<(d0) -> ((d0 * 16))> (%[[I]])
// CHECK-NEXT: %[[SIZE:.*]] = affine.min affine_map<(d0) -> (16, ((d0 * -1) + 100))> (%[[OFF]])
// CHECK-NEXT: %[[X:.*]] = tensor.extract_slice %x[%[[OFF]], 0] [%[[SIZE]], 64] [1, 1]
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?x64xf32>)
// CHECK: tensor.parallel_insert_slice %[[E]] into %[[O]][%[[OFF]], 0] [%[[SIZE]], 64] [1, 1]
// CHECK: mapping = [#gpu.block<linear_dim_0>]
// CHECK: func.return %[[R]]
func.func private @edges(%x: tensor<100x64xf32>) -> tensor<100x64xf32> attributes {ingot.kernel, ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 16, 64>, thread = array<i64: 1, 4>, threads = 256 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>}} {
  %0 = tensor.empty() : tensor<100x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x64xf32>) outs(%0 : tensor<100x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = math.exp %in : f32
    linalg.yield %2 : f32
  } -> tensor<100x64xf32>
  return %1 : tensor<100x64xf32>
}

// A window is sliced with its halo; linalg.index counts from the start of the tensor.
// CHECK-LABEL: func.func private @window
// CHECK: scf.forall (%{{.*}}) in (4)
// CHECK: tensor.extract_slice %x[%{{.*}}] [18] [1] : tensor<66xf32> to tensor<18xf32>
// CHECK: linalg.index 0
// CHECK-NEXT: affine.apply affine_map<(d0, d1) -> ((d0 + d1))>
func.func private @window(%x: tensor<66xf32>, %w: tensor<3xf32>) -> tensor<64xf32> attributes {ingot.kernel, ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 16>, thread = array<i64: 1>, threads = 16 : i64, vector = 1 : i64, reduction = 0 : i64, promote = array<i64>}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<66xf32>, tensor<3xf32>) outs(%1 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %3 = arith.mulf %a, %f : f32
    %4 = arith.addf %out, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

// A reversed operand cannot be sliced: it is read inside the body.
// CHECK-LABEL: func.func private @reversed
// CHECK: linalg.generic
// CHECK: tensor.extract %x[%{{.*}}] : tensor<64xf32>
func.func private @reversed(%x: tensor<64xf32>) -> tensor<64xf32> attributes {ingot.kernel, ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 16>, thread = array<i64: 1>, threads = 16 : i64, vector = 1 : i64, reduction = 0 : i64, promote = array<i64>}} {
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (63 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%0 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
