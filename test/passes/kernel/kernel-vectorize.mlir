// RUN: ingot-opt %s -p 'kernel-tile-threadgroups,kernel-tile-threads,kernel-tile-reduction,kernel-promote,kernel-bufferize,kernel-vectorize,canonicalize,cse' | filecheck %s

// Rows past the edge are read at the last row and not written.
// CHECK-LABEL: func.func private @edges
// CHECK: %[[ROW:.*]] = affine.apply affine_map<(d0, d1) -> (((d0 * 16) + d1))>
// CHECK: %[[LAST:.*]] = arith.minsi %[[ROW]], %{{.*}} : index
// CHECK: %[[V:.*]] = vector.transfer_read %x[%[[LAST]], %[[COL:.*]]], %{{.*}} {in_bounds = [true]} : memref<100x64xf32>, vector<4xf32>
// CHECK-NEXT: %[[E:.*]] = math.exp %[[V]] : vector<4xf32>
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[ROW]], %{{.*}} : index
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK-NEXT: vector.transfer_write %[[E]], %out[%[[ROW]], %[[COL]]]
func.func private @edges(%x: tensor<100x64xf32>) -> tensor<100x64xf32> attributes {ingot.kernel, ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 16, 64>, thread = array<i64: 1, 4>, threads = 256 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>}} {
  %0 = tensor.empty() : tensor<100x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x64xf32>) outs(%0 : tensor<100x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = math.exp %in : f32
    linalg.yield %2 : f32
  } -> tensor<100x64xf32>
  return %1 : tensor<100x64xf32>
}

// A row that fits its threads is read once; its tail counts as the identity of the reduction.
// CHECK-LABEL: func.func private @row
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: %[[VALID:.*]] = arith.cmpi slt
// CHECK: %[[X:.*]] = vector.transfer_read %x
// CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %[[X]], %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: vector.extract %{{.*}}[3] : f32 from vector<4xf32>
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: %[[PART:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[SUM:.*]] = gpu.all_reduce add %[[PART]] uniform
// CHECK: %[[MEAN:.*]] = vector.broadcast
// CHECK: %[[CENTERED:.*]] = arith.subf %[[X]], %[[MEAN]] : vector<4xf32>
// CHECK: scf.if %[[VALID]]
// CHECK-NEXT: vector.transfer_write %[[CENTERED]]
func.func private @row(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> attributes {ingot.kernel, ingot.kind = "row", ingot.row_dims = 1 : i64, ingot.schedule = {kind = "row", threadgroup = array<i64: 1>, thread = array<i64: 1>, threads = 256 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>, unroll = 8 : i64}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1000xf32>) outs(%1 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %out, %in : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %4 = tensor.empty() : tensor<64x1000xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %2 : tensor<64x1000xf32>, tensor<64xf32>) outs(%4 : tensor<64x1000xf32>) {
  ^bb0(%in: f32, %mean: f32, %out: f32):
    %6 = arith.subf %in, %mean : f32
    linalg.yield %6 : f32
  } -> tensor<64x1000xf32>
  return %5 : tensor<64x1000xf32>
}

// A threadgroup of two rows reads what both need once: the scale.
// CHECK-LABEL: func.func private @two_rows
// CHECK: scf.forall (%[[G:.*]]) in (32)
// CHECK: %[[FIRST:.*]] = affine.apply affine_map<(d0) -> ((d0 * 2))> (%[[G]])
// CHECK: %[[X0:.*]] = vector.transfer_read %x[%[[FIRST]],
// CHECK: %[[S0:.*]] = gpu.all_reduce add
// CHECK: %[[SECOND:.*]] = affine.apply affine_map<(d0) -> (((d0 * 2) + 1))> (%[[G]])
// CHECK: %[[X1:.*]] = vector.transfer_read %x[%[[SECOND]],
// CHECK: %[[S1:.*]] = gpu.all_reduce add
// CHECK: %[[SCALE:.*]] = vector.transfer_read %scale
// CHECK-NOT: vector.transfer_read
// CHECK: vector.transfer_write %{{.*}}, %out[%[[FIRST]],
// CHECK: vector.transfer_write %{{.*}}, %out[%[[SECOND]],
func.func private @two_rows(%x: tensor<64x128xf32>, %scale: tensor<128xf32>) -> tensor<64x128xf32> attributes {ingot.kernel, ingot.kind = "row", ingot.row_dims = 1 : i64, ingot.schedule = {kind = "row", threadgroup = array<i64: 2>, thread = array<i64: 2>, threads = 32 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>, unroll = 8 : i64}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x128xf32>) outs(%1 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %out, %in : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %4 = tensor.empty() : tensor<64x128xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %2, %scale : tensor<64x128xf32>, tensor<64xf32>, tensor<128xf32>) outs(%4 : tensor<64x128xf32>) {
  ^bb0(%in: f32, %sum: f32, %factor: f32, %out: f32):
    %6 = arith.subf %in, %sum : f32
    %7 = arith.mulf %6, %factor : f32
    linalg.yield %7 : f32
  } -> tensor<64x128xf32>
  return %5 : tensor<64x128xf32>
}

// Threads share columns: each takes every 16th row, two at once, and some of them one more. What they
// have meets in threadgroup memory, where the threads of the first rows combine it.
// CHECK-LABEL: func.func private @columns
// CHECK: %parts = memref.alloc() : memref<16x32xf32, #gpu.address_space<workgroup>>
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: %[[COLUMN:.*]] = affine.apply affine_map<(d0) -> ((d0 mod 8))> (%[[T]])
// CHECK: %[[PART:.*]] = affine.apply affine_map<(d0) -> ((d0 floordiv 8))> (%[[T]])
// CHECK: scf.for %[[TURN:.*]] = %{{.*}} to %{{.*}} step {{.*}} -> (vector<4xf32>)
// CHECK: %[[ROW:.*]] = affine.apply affine_map<(d0, d1) -> (((d0 * 32) + d1))> (%[[TURN]], %[[PART]])
// CHECK: vector.transfer_read %x[%[[ROW]], %{{.*}}], %{{.*}} {in_bounds = [true]} : memref<100x40xf32>, vector<4xf32>
// CHECK: %[[NEXT:.*]] = affine.apply affine_map<(d0, d1) -> ((((d0 * 32) + d1) + 16))> (%[[TURN]], %[[PART]])
// CHECK: scf.yield
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[PART]], %{{.*}} : index
// CHECK-NEXT: scf.if %[[SOME]] -> (vector<4xf32>)
// CHECK: vector.transfer_write %{{.*}}, %parts[%[[PART]], %{{.*}}]
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[PART]], %{{.*}} : index
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: scf.for {{.*}} -> (vector<4xf32>)
// CHECK: vector.transfer_read %parts
// CHECK: vector.transfer_write %{{.*}}, %out[%{{.*}}] : vector<4xf32>
func.func private @columns(%x: tensor<100x40xf32>) -> tensor<40xf32> attributes {ingot.kernel, ingot.schedule = {kind = "column", threadgroup = array<i64: 32>, thread = array<i64: 4>, threads = 128 : i64, vector = 4 : i64, reduction = 0 : i64, promote = array<i64>, unroll = 2 : i64, splits = 16 : i64}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<40xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<40xf32>) -> tensor<40xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<100x40xf32>) outs(%1 : tensor<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %out, %in : f32
    linalg.yield %3 : f32
  } -> tensor<40xf32>
  return %2 : tensor<40xf32>
}

// A reduction that needs another comes after it, in a loop of its own.
// CHECK-LABEL: func.func private @distances
// CHECK:      %[[SUM:.*]] = scf.for
// CHECK-NOT:    scf.for
// CHECK:        scf.yield
// CHECK:      scf.for
// CHECK-NOT:    scf.for
// CHECK:        arith.subf %{{.*}}, %[[SUM]]
// CHECK:        scf.yield
func.func private @distances(%x: tensor<64x12xf32>) -> tensor<64xf32> attributes {ingot.kernel, ingot.schedule = {kind = "pointwise", threadgroup = array<i64: 64>, thread = array<i64: 1>, threads = 64 : i64, vector = 1 : i64, reduction = 0 : i64, promote = array<i64>, unroll = 1 : i64}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x12xf32>) outs(%1 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %out, %in : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %2 : tensor<64x12xf32>, tensor<64xf32>) outs(%1 : tensor<64xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %5 = arith.subf %in, %sum : f32
    %6 = arith.mulf %5, %5 : f32
    %7 = arith.addf %out, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<64xf32>
  return %4 : tensor<64xf32>
}

// Accumulators live in vectors; tiles are staged with the reduction as lines, so that rows and columns
// are read as vectors. The next tiles are loaded first, and stored when all threads have computed;
// a tile of rows is turned in squares of registers. What lies past the end of the reduction is zero.
// CHECK-LABEL: func.func private @matmul
// CHECK: %tile_a = memref.alloc() : memref<16x36xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK: vector.transfer_read %x{{.*}} vector<4xf32>
// CHECK: arith.select
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK: vector.transfer_read %tile_a{{.*}} vector<4xf32>
// CHECK: vector.transfer_read %tile_b{{.*}} vector<4xf32>
// CHECK: gpu.barrier
// CHECK: vector.transfer_write %{{.*}}, %tile_a{{.*}} vector<4xf32>
// CHECK: vector.transfer_write %{{.*}}, %tile_b{{.*}} vector<4xf32>
// CHECK: gpu.barrier
// CHECK: vector.transfer_write %{{.*}}, %out
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

// With matrix units each lane of a SIMD-group holds two elements of a fragment. Two copies of each
// tile: the next one is loaded before this one is multiplied, and stored after.
// CHECK-LABEL: func.func private @fragments
// CHECK: %tile_a = memref.alloc() : memref<32x20xf32, #gpu.address_space<workgroup>>
// CHECK: %tile_b = memref.alloc() : memref<32x20xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for %{{.*}} -> (vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>)
// CHECK-COUNT-2: vector.transfer_read %x{{.*}} vector<4xf32>
// CHECK: %[[A:.*]] = vector.transfer_read %tile_a{{.*}} vector<2xf32>
// CHECK: vector.transfer_read %tile_a{{.*}} vector<2xf32>
// CHECK: %[[B:.*]] = vector.transfer_read %tile_b{{.*}} vector<2xf32>
// CHECK: vector.transfer_read %tile_b{{.*}} vector<2xf32>
// CHECK-COUNT-8: simdgroup.multiply_accumulate
// CHECK: vector.transfer_write %{{.*}}, %tile_a{{.*}} vector<4xf32>
// CHECK: gpu.barrier
// CHECK-NEXT: scf.yield
// CHECK-COUNT-4: vector.transfer_write %{{.*}}, %out{{.*}} vector<2xf32>
func.func private @fragments(%x: tensor<64x48xf32>, %y: tensor<48x32xf32>) -> tensor<64x32xf32> attributes {ingot.kernel, ingot.schedule = {kind = "contraction", threadgroup = array<i64: 16, 16>, thread = array<i64: 8, 2>, threads = 32 : i64, vector = 2 : i64, reduction = 16 : i64, promote = array<i64: 0, 1>, stages = 2 : i64, subgroup = array<i64: 16, 16>, unit = array<i64: 8, 8, 8>}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64x32xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x48xf32>, tensor<48x32xf32>) outs(%1 : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %out, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// The vectors of a row share one test of whether the row exists.
// CHECK-LABEL: func.func private @ragged_fragments
// CHECK: scf.for
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: vector.transfer_write {{.*}} : vector<2xf32>, memref<20x30xf32>
// CHECK-NEXT: vector.transfer_write {{.*}} : vector<2xf32>, memref<20x30xf32>
// CHECK-NEXT: }
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: vector.transfer_write
// CHECK-NEXT: vector.transfer_write
// CHECK-NEXT: }
// CHECK-NOT: scf.if
func.func private @ragged_fragments(%x: tensor<20x48xf32>, %y: tensor<48x30xf32>) -> tensor<20x30xf32> attributes {ingot.kernel, ingot.schedule = {kind = "contraction", threadgroup = array<i64: 16, 16>, thread = array<i64: 8, 2>, threads = 32 : i64, vector = 2 : i64, reduction = 16 : i64, promote = array<i64: 0, 1>, stages = 2 : i64, subgroup = array<i64: 16, 16>, unit = array<i64: 8, 8, 8>}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<20x30xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<20x30xf32>) -> tensor<20x30xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<20x48xf32>, tensor<48x30xf32>) outs(%1 : tensor<20x30xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %out, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<20x30xf32>
  return %2 : tensor<20x30xf32>
}

// Matrices whose elements have no known place are exchanged through threadgroup memory at the end.
// Copies move 16 bytes at once.
// CHECK-LABEL: func.func private @matrices
// CHECK: %exchange = memref.alloc() : memref<16x20xf32, #gpu.address_space<workgroup>>
// CHECK: %[[ZERO:.*]] = gpu.subgroup_mma_constant_matrix
// CHECK: scf.for {{.*}} -> (!gpu.mma_matrix<16x16xf32, "COp">
// CHECK: vector.transfer_read %x{{.*}} vector<8xf16>
// CHECK-COUNT-2: gpu.subgroup_mma_load_matrix %tile_a{{.*}} {leadDimension = 40 : index} : {{.*}} -> !gpu.mma_matrix<16x16xf16, "AOp">
// CHECK-COUNT-2: gpu.subgroup_mma_load_matrix %tile_b{{.*}} -> !gpu.mma_matrix<16x16xf16, "BOp">
// CHECK-COUNT-4: gpu.subgroup_mma_compute
// CHECK: gpu.barrier
// CHECK: vector.transfer_write %{{.*}}, %tile_a{{.*}} vector<8xf16>
// CHECK: gpu.subgroup_mma_store_matrix %{{.*}}, %exchange
// CHECK-NEXT: gpu.barrier
// CHECK: vector.transfer_read %exchange{{.*}} vector<4xf32>
// CHECK: vector.transfer_write %{{.*}}, %out{{.*}} vector<4xf32>
// CHECK: gpu.barrier
func.func private @matrices(%x: tensor<64x64xf16>, %y: tensor<64x32xf16>) -> tensor<64x32xf32> attributes {ingot.kernel, ingot.schedule = {kind = "contraction", threadgroup = array<i64: 32, 32>, thread = array<i64: 8, 2>, threads = 32 : i64, vector = 4 : i64, reduction = 32 : i64, promote = array<i64: 0, 1>, stages = 1 : i64, subgroup = array<i64: 32, 32>, unit = array<i64: 16, 16, 16>}} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64x32xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x64xf16>, tensor<64x32xf16>) outs(%1 : tensor<64x32xf32>) {
  ^bb0(%a: f16, %b: f16, %out: f32):
    %5 = arith.extf %a : f16 to f32
    %6 = arith.extf %b : f16 to f32
    %3 = arith.mulf %5, %6 : f32
    %4 = arith.addf %out, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// Sums of f16 are accumulated in f32 and rounded once.
// CHECK-LABEL: func.func private @narrow_sum
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: gpu.all_reduce add %{{.*}} uniform
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func private @narrow_sum(%x: tensor<4x65xf16>) -> tensor<4xf16> attributes {ingot.kernel, ingot.kind = "row", ingot.row_dims = 1 : i64, ingot.schedule = {kind = "row", threadgroup = array<i64: 1>, thread = array<i64: 1>, threads = 32 : i64, vector = 1 : i64, reduction = 0 : i64, promote = array<i64>, unroll = 8 : i64}} {
  %zero = arith.constant 0.0 : f16
  %0 = tensor.empty() : tensor<4xf16>
  %1 = linalg.fill ins(%zero : f16) outs(%0 : tensor<4xf16>) -> tensor<4xf16>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x65xf16>) outs(%1 : tensor<4xf16>) {
  ^bb0(%in: f16, %out: f16):
    %3 = arith.addf %out, %in : f16
    linalg.yield %3 : f16
  } -> tensor<4xf16>
  return %2 : tensor<4xf16>
}

// What follows a product is long: a function that each thread calls for all that it holds.
// CHECK-LABEL: func.func private @long_end_elementwise(%sum: vector<2xf32>, %bias: vector<2xf32>) -> vector<2xf32> attributes {ingot.helper} {
// CHECK-NEXT: arith.constant 2.0
// CHECK-COUNT-7: arith.{{(add|mul)}}f
// CHECK-NEXT: math.exp
// CHECK-NEXT: func.return
// CHECK-LABEL: func.func private @long_end(
// CHECK-COUNT-4: func.call @long_end_elementwise(%{{.*}}, %{{.*}}) : (vector<2xf32>, vector<2xf32>) -> vector<2xf32>
// CHECK-NOT: func.call
// CHECK-NOT: math.exp
// CHECK: func.return
func.func private @long_end(%x: tensor<64x48xf32>, %y: tensor<48x32xf32>, %z: tensor<64x32xf32>) -> tensor<64x32xf32> attributes {ingot.kernel, ingot.schedule = {kind = "contraction", threadgroup = array<i64: 16, 16>, thread = array<i64: 8, 1>, threads = 32 : i64, vector = 4 : i64, reduction = 16 : i64, promote = array<i64: 0, 1>, stages = 2 : i64, subgroup = array<i64: 16, 16>, unit = array<i64: 8, 8, 8>}} {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = tensor.empty() : tensor<64x32xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x48xf32>, tensor<48x32xf32>) outs(%1 : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %out, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x32xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%2, %z : tensor<64x32xf32>, tensor<64x32xf32>) outs(%0 : tensor<64x32xf32>) {
  ^bb0(%sum: f32, %bias: f32, %out: f32):
    %6 = arith.addf %sum, %bias : f32
    %7 = arith.mulf %6, %two : f32
    %8 = arith.addf %7, %sum : f32
    %9 = arith.mulf %8, %7 : f32
    %10 = arith.addf %9, %bias : f32
    %11 = arith.mulf %10, %8 : f32
    %12 = arith.addf %11, %9 : f32
    %13 = math.exp %12 : f32
    linalg.yield %13 : f32
  } -> tensor<64x32xf32>
  return %5 : tensor<64x32xf32>
}
