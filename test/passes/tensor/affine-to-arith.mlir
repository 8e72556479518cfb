// RUN: ingot-opt %s -p 'affine-to-arith' | filecheck %s

// Divisions round as affine maps say, for negative numbers too.
// CHECK-LABEL: func.func @tiles(%a: index, %b: index) -> index
// CHECK-NEXT:    %[[C8:.*]] = arith.constant 8 : index
// CHECK-NEXT:    arith.ceildivsi %a, %[[C8]] : index
// CHECK-NEXT:    arith.constant 4 : index
// CHECK-NEXT:    arith.floordivsi %b
// CHECK-NEXT:    arith.muli
// CHECK-NEXT:    arith.subi %b
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    func.return
func.func @tiles(%a: index, %b: index) -> index {
  %r = affine.apply affine_map<(d0)[s0] -> (d0 ceildiv 8 + s0 mod 4)>(%a)[%b]
  return %r : index
}

// CHECK-LABEL: func.func @bounds(%a: index, %b: index) -> (index, index)
// CHECK:         arith.minsi
// CHECK:         arith.maxsi
// CHECK-NOT:     affine
func.func @bounds(%a: index, %b: index) -> (index, index) {
  %l = affine.min affine_map<(d0, d1) -> (d0, d1 - 1)>(%a, %b)
  %h = affine.max affine_map<(d0, d1) -> (d0, d1)>(%a, %b)
  return %l, %h : index, index
}
