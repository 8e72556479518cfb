// RUN: ingot-opt %s -p 'kernel-select-schedule{target="metal:apple7"}' | filecheck %s

// Elementwise: vectors of four along the last dimension, 256 threads.
// CHECK-LABEL: func.func private @elementwise
// CHECK-SAME: ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 16, 64>, thread = array<i64: 1, 4>, threads = 256 : i64, vector = 4 : i64
func.func private @elementwise(%x: tensor<100x64xf32>) -> tensor<100x64xf32> attributes {ingot.kernel} {
  %0 = tensor.empty() : tensor<100x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x64xf32>) outs(%0 : tensor<100x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = math.exp %in : f32
    linalg.yield %2 : f32
  } -> tensor<100x64xf32>
  return %1 : tensor<100x64xf32>
}

// An odd last dimension has no aligned vectors.
// CHECK-LABEL: func.func private @odd
// CHECK-SAME: threadgroup = array<i64: 2, 128>, thread = array<i64: 1, 1>, threads = 256 : i64, vector = 1 : i64
func.func private @odd(%x: tensor<100x65xf32>) -> tensor<100x65xf32> attributes {ingot.kernel} {
  %0 = tensor.empty() : tensor<100x65xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x65xf32>) outs(%0 : tensor<100x65xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = math.exp %in : f32
    linalg.yield %2 : f32
  } -> tensor<100x65xf32>
  return %1 : tensor<100x65xf32>
}

// A contraction is staged twice through threadgroup memory in tiles of 16 along its reduction, and
// computed by matrix units: each SIMD-group has 4x4 fragments.
// CHECK-LABEL: func.func private @contraction
// CHECK-SAME: kind = "contraction", threadgroup = array<i64: 64, 64>, thread = array<i64: 8, 2>, threads = 128 : i64, vector = 2 : i64, reduction = 16 : i64, promote = array<i64: 0, 1>, unroll = 1 : i64, stages = 2 : i64, subgroup = array<i64: 32, 32>, unit = array<i64: 8, 8, 8>
func.func private @contraction(%x: tensor<1024x256xf32>, %y: tensor<256x1024xf32>) -> tensor<1024x1024xf32> attributes {ingot.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1024x1024xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<1024x256xf32>, tensor<256x1024xf32>) outs(%1 : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %out, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1024x1024xf32>
  return %2 : tensor<1024x1024xf32>
}

// A row kernel gives each row to one threadgroup.
// CHECK-LABEL: func.func private @row
// CHECK-SAME: kind = "row", threadgroup = array<i64: 1>, thread = array<i64: 1>, threads = 256 : i64, vector = 4 : i64
func.func private @row(%x: tensor<64x1000xf32>) -> tensor<64xf32> attributes {ingot.kernel, ingot.kind = "row", ingot.row_dims = 1 : i64} {
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

// An input that is contiguous along another loop than the result goes through threadgroup memory.
// CHECK-LABEL: func.func private @transpose
// CHECK-SAME: kind = "pointwise", threadgroup = array<i64: 32, 32>, thread = array<i64: 4, 4>, threads = 64 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64: 0>
func.func private @transpose(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {ingot.kernel} {
  %0 = tensor.empty() : tensor<64x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// Threads share the reductions of neighbouring columns.
// CHECK-LABEL: func.func private @columns
// CHECK-SAME: kind = "column", threadgroup = array<i64: 32>, thread = array<i64: 4>, threads = 512 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>, unroll = 4 : i64, splits = 64 : i64
func.func private @columns(%x: tensor<1024x64xf32>) -> tensor<64xf32> attributes {ingot.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1024x64xf32>) outs(%1 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %out, %in : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  return %2 : tensor<64xf32>
}
