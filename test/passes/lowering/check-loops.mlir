// RUN: ingot-opt %s -p 'check-loops{most-turns=65535}' | filecheck %s

// Loops that are short enough, and one whose length is not known, are left as they are.
// CHECK-LABEL: func.func @short
// CHECK:         scf.for
// CHECK:         scf.for
func.func @short(%x: memref<70000xf32>, %n: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c70000 = arith.constant 70000 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c70000 step %c2 {
    memref.store %zero, %x[%i] : memref<70000xf32>
  }
  scf.for %i = %c0 to %n step %c2 {
    memref.store %zero, %x[%i] : memref<70000xf32>
  }
  return
}
