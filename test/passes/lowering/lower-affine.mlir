// RUN: ingot-opt %s -p 'lower-affine' | filecheck %s

// An id is not negative: divisions need no sign. `a + -b` is a subtraction.
func.func @maps(%x: memref<8xindex>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %quotient = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%t)
  %rest = affine.apply affine_map<(d0) -> (d0 mod 4)>(%t)
  %size = affine.min affine_map<(d0) -> (4, -d0 + 10)>(%t)
  return
}
// CHECK-LABEL: func.func @maps
// CHECK:      %quotient = arith.divui %t, %{{.*}} : index
// CHECK:      %rest = arith.remui %t, %{{.*}} : index
// CHECK:      %[[LEFT:.*]] = arith.subi %[[TEN:.*]], %t : index
// CHECK-NEXT: %size = arith.minsi %{{.*}}, %[[LEFT]] : index

// What two sums have in common is computed once: in a block, and for the blocks inside it.
func.func @shared(%x: memref<64xindex>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %b = gpu.block_id x
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %first = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%b, %t)
  scf.for %i = %c1 to %c9 step %c1 {
    %second = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 + 8)>(%b, %t)
    %inner = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    memref.store %second, %x[%inner] : memref<64xindex>
  }
  %third = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 + 8)>(%b, %t)
  memref.store %third, %x[%first] : memref<64xindex>
  return
}
// CHECK-LABEL: func.func @shared
// CHECK:      %[[PART:.*]] = arith.muli %b, %[[EIGHT:.*]] : index
// CHECK-NEXT: %first = arith.addi %[[PART]], %t : index
// CHECK-NEXT: scf.for
// CHECK-NEXT:   %second = arith.addi %first, %[[EIGHT]] : index
// CHECK:        arith.muli %i
// CHECK:      }
// CHECK-NEXT: %third = arith.addi %first, %[[EIGHT]] : index

// An unknown index may be negative: the quotient is still rounded down.
func.func @negative(%x: memref<8xindex>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %i = memref.load %x[%t] : memref<8xindex>
  %quotient = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%i)
  return
}
// CHECK-LABEL: func.func @negative
// CHECK:      %[[BELOW:.*]] = arith.cmpi slt, %i, %{{.*}} : index
// CHECK:      %[[MOVED:.*]] = arith.subi %i, %{{.*}} : index
// CHECK-NEXT: %[[FROM:.*]] = arith.select %[[BELOW]], %[[MOVED]], %i : index
// CHECK:      %quotient = arith.divsi %[[FROM]], %{{.*}} : index
