// RUN: ingot-opt %s -p 'lower-transfers' | filecheck %s

func.func @in_bounds(%x: memref<4x8xf32>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%t, %t], %zero {in_bounds = [true]} : memref<4x8xf32>, vector<4xf32>
  vector.transfer_write %v, %x[%t, %t] {in_bounds = [true]} : vector<4xf32>, memref<4x8xf32>
  return
}
// CHECK-LABEL: func.func @in_bounds
// CHECK:      %v = vector.load %x[%t, %t] : memref<4x8xf32>, vector<4xf32>
// CHECK-NEXT: vector.store %v, %x[%t, %t] : memref<4x8xf32>, vector<4xf32>

// A vector that begins inside ends inside: one test.
func.func @aligned(%x: memref<8xf32>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %c4 = arith.constant 4 : index
  %i = arith.muli %t, %c4 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i], %zero : memref<8xf32>, vector<4xf32>
  vector.transfer_write %v, %x[%i] : vector<4xf32>, memref<8xf32>
  return
}
// CHECK-LABEL: func.func @aligned
// CHECK:      %[[IN:.*]] = arith.cmpi slt, %i, %{{.*}} : index
// CHECK-NEXT: %v = scf.if %[[IN]] -> (vector<4xf32>) {
// CHECK-NEXT:   vector.load %x[%i]
// CHECK:      } else {
// CHECK-NEXT:   vector.splat %zero
// CHECK-NOT:  memref.load
// CHECK:      scf.if
// CHECK-NEXT:   vector.store %v, %x[%i]
// CHECK-NOT:  memref.store

// Else each lane is tested where the whole does not fit.
func.func @ragged(%x: memref<7xf32>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%t], %zero : memref<7xf32>, vector<4xf32>
  vector.transfer_write %v, %x[%t] : vector<4xf32>, memref<7xf32>
  return
}
// CHECK-LABEL: func.func @ragged
// CHECK:      %[[END:.*]] = arith.addi %t, %{{.*}} : index
// CHECK:      %[[FITS:.*]] = arith.cmpi sle, %[[END]], %{{.*}} : index
// CHECK-NEXT: scf.if %[[FITS]]
// CHECK-NEXT:   vector.load
// CHECK:      } else {
// CHECK:        scf.if
// CHECK:          memref.load %x
// CHECK:        else
// CHECK-NEXT:     scf.yield %zero
// CHECK:        scf.if
// CHECK:          memref.load %x
// CHECK:        vector.from_elements
// CHECK:        vector.store
// CHECK:      } else {
// CHECK:        scf.if
// CHECK:          vector.extract %v[0]
// CHECK:          memref.store
// CHECK:        scf.if
// CHECK:          vector.extract %v[1]
// CHECK:          memref.store
// CHECK:          vector.extract %v[3]
// CHECK:          memref.store

// The lanes of a pair are tested alone; where the first is outside, so is the second.
func.func @ragged_pair(%x: memref<7xf32>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%t], %zero : memref<7xf32>, vector<2xf32>
  vector.transfer_write %v, %x[%t] : vector<2xf32>, memref<7xf32>
  return
}
// CHECK-LABEL: func.func @ragged_pair
// CHECK:      %[[END:.*]] = arith.constant 7 : index
// CHECK:      %[[FIRST:.*]] = arith.cmpi slt, %t, %[[END]] : index
// CHECK-NEXT: %[[A:.*]] = scf.if %[[FIRST]] -> (f32) {
// CHECK-NEXT:   memref.load %x[%t]
// CHECK:        scf.yield %zero
// CHECK:      %[[LAST:.*]] = arith.constant 6 : index
// CHECK:      %[[SECOND:.*]] = arith.cmpi slt, %t, %[[LAST]] : index
// CHECK-NEXT: %[[B:.*]] = scf.if %[[SECOND]] -> (f32) {
// CHECK:        memref.load %x
// CHECK:        scf.yield %zero
// CHECK:      %v = vector.from_elements %[[A]], %[[B]] : vector<2xf32>
// CHECK-NOT:  vector.store
// CHECK:      scf.if
// CHECK-NEXT:   %[[X:.*]] = vector.extract %v[0]
// CHECK-NEXT:   memref.store %[[X]], %x[%t]
// CHECK:        scf.if
// CHECK-NEXT:     %[[Y:.*]] = vector.extract %v[1]
// CHECK:          memref.store %[[Y]], %x
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NOT:  vector.store
