// RUN: ingot-opt %s -p 'unpack-int4' | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Two elements to a byte, the first in the low bits; the nibble without its sign is extended.
// CHECK-LABEL: func.func @extend(%w: tensor<8xi8>) -> tensor<3x5xi32>
// CHECK-SAME:      ingot.signature = (tensor<3x5xi4>) -> tensor<3x5xi32>
// CHECK:         %[[BYTE:.*]] = arith.divui
// CHECK:         %[[PAIR:.*]] = tensor.extract %w[%[[BYTE]]] : tensor<8xi8>
// CHECK:         arith.shrsi
// CHECK:         ^bb0(%[[Q:.*]]: i8, %{{.*}}: i32):
// CHECK-NEXT:      %[[MASK:.*]] = arith.constant 15 : i8
// CHECK-NEXT:      %[[BITS:.*]] = arith.andi %[[Q]], %[[MASK]] : i8
// CHECK-NEXT:      %{{.*}} = arith.extui %[[BITS]] : i8 to i32
func.func @extend(%w: tensor<3x5xi4>) -> tensor<3x5xi32> {
  %e = tensor.empty() : tensor<3x5xi32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<3x5xi4>) outs(%e : tensor<3x5xi32>) {
  ^bb0(%q: i4, %o: i32):
    %u = arith.extui %q : i4 to i32
    linalg.yield %u : i32
  } -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}

// A constant stays packed: 1 and -2 are 0xE1, 7 alone is 0x07.
// CHECK-LABEL: func.func @constant
// CHECK:         arith.constant dense<[-31, 7]> : tensor<2xi8>
func.func @constant() -> tensor<3xi4> {
  %0 = arith.constant dense<[1, -2, 7]> : tensor<3xi4>
  return %0 : tensor<3xi4>
}

// What comes of an op on i4 is i4 as well, and has no sign where it is extended without one.
// CHECK-LABEL: func.func @computed
// CHECK:         arith.addi %q, %q : i8
// CHECK:         %[[SUM:.*]] = arith.shrsi
// CHECK:         %[[BITS:.*]] = arith.andi %[[SUM]]
// CHECK-NEXT:    arith.uitofp %[[BITS]] : i8 to f32
func.func @computed(%w: tensor<3xi4>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%w : tensor<3xi4>) outs(%e : tensor<3xf32>) {
  ^bb0(%q: i4, %o: f32):
    %s = arith.addi %q, %q : i4
    %f = arith.uitofp %s : i4 to f32
    linalg.yield %f : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
