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
// CHECK-NEXT: %[[LESS:.*]] = arith.cmpi slt, %[[FOUR:.*]], %[[LEFT]] : index
// CHECK-NEXT: %size = arith.select %[[LESS]], %[[FOUR]], %[[LEFT]] : index

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
