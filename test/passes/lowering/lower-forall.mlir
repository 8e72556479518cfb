// RUN: ingot-opt %s --split-input-file -p 'lower-forall' | filecheck %s
// RUN: ingot-opt %s --split-input-file -p 'lower-forall{max_grid=100}' | filecheck %s --check-prefix=LIMIT

// The loop with linear_dim_0 has the fastest id; the others follow by division.
func.func @delinearize(%x: memref<8x16xf32>) attributes {ingot.kernel} {
  %one = arith.constant 1.0 : f32
  scf.forall (%i, %j) in (8, 16) {
    scf.forall (%t) in (32) {
      memref.store %one, %x[%i, %j] : memref<8x16xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
// CHECK-LABEL: func.func @delinearize
// CHECK-SAME: ingot.grid = array<i64: 128, 1, 1>, ingot.workgroup_size = array<i64: 32, 1, 1>
// CHECK:      %[[B:.*]] = gpu.block_id x
// CHECK-NEXT: %[[C:.*]] = arith.constant 16 : index
// CHECK-NEXT: %j = arith.remui %[[B]], %[[C]] : index
// CHECK-NEXT: %i = arith.divui %[[B]], %[[C]] : index
// CHECK:      memref.store %{{.*}}, %x[%i, %j]
// CHECK-NOT:  scf

// -----

// More threads than iterations: the others skip the body. A step scales the id.
func.func @fewer_iterations(%x: memref<128xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 64, 1, 1>} {
  %one = arith.constant 1.0 : f32
  scf.forall (%t) = (0) to (128) step (4) {
    memref.store %one, %x[%t] : memref<128xf32>
  } {mapping = [#gpu.thread<linear_dim_0>]}
  return
}
// CHECK-LABEL: func.func @fewer_iterations
// CHECK-SAME: ingot.grid = array<i64: 1, 1, 1>
// CHECK:      %[[T:.*]] = gpu.thread_id x
// CHECK:      %[[IN:.*]] = arith.cmpi ult, %[[T]], %{{.*}} : index
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK:        %t = arith.muli %[[T]], %{{.*}} : index
// CHECK-NEXT:   memref.store %one, %x[%t]

// -----

// Fewer threads than iterations: a strided loop.
func.func @more_iterations(%x: memref<100xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 8, 4, 1>} {
  %one = arith.constant 1.0 : f32
  scf.forall (%t) in (100) {
    memref.store %one, %x[%t] : memref<100xf32>
  } {mapping = [#gpu.thread<linear_dim_0>]}
  return
}
// CHECK-LABEL: func.func @more_iterations
// CHECK:      %[[X:.*]] = gpu.thread_id x
// CHECK-NEXT: %[[Y:.*]] = gpu.thread_id y
// CHECK:      %[[ROW:.*]] = arith.muli %[[Y]], %{{.*}} : index
// CHECK-NEXT: %[[T:.*]] = arith.addi %[[X]], %[[ROW]] : index
// CHECK:      scf.for %t = %[[T]] to %{{.*}} step %{{.*}} {

// -----

// 150 threadgroups do not fit 100 along x: 75 by 2. 151 leave one to spare, which does nothing.
func.func @large_grid(%x: memref<150xf32>) attributes {ingot.kernel} {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (150) {
    memref.store %one, %x[%i] : memref<150xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
// LIMIT-LABEL: func.func @large_grid
// LIMIT-SAME: ingot.grid = array<i64: 75, 2, 1>
// LIMIT:      %i = arith.addi
// LIMIT-NEXT: memref.store

// -----

func.func @spare_threadgroup(%x: memref<151xf32>) attributes {ingot.kernel} {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (151) {
    memref.store %one, %x[%i] : memref<151xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
// LIMIT-LABEL: func.func @spare_threadgroup
// LIMIT-SAME: ingot.grid = array<i64: 76, 2, 1>
// LIMIT:      %[[IN:.*]] = arith.cmpi ult
// LIMIT-NEXT: scf.if %[[IN]] {

// -----

// Nothing to do is an empty grid.
func.func @empty(%x: memref<0xf32>) attributes {ingot.kernel} {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (0) {
    memref.store %one, %x[%i] : memref<0xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
// CHECK-LABEL: func.func @empty
// CHECK-SAME: ingot.grid = array<i64: 0, 1, 1>
// CHECK-NOT:  memref.store
