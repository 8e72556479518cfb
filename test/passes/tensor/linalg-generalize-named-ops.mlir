// RUN: ingot-opt %s -p 'linalg-generalize-named-ops' | filecheck %s

// CHECK-LABEL: func.func @matmul_extends_to_the_accumulator
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:         ^bb0([[A:%.*]]: f16, [[B:%.*]]: f16, [[C:%.*]]: f32):
// CHECK-NEXT:      [[A32:%.*]] = arith.extf [[A]] : f16 to f32
// CHECK-NEXT:      [[B32:%.*]] = arith.extf [[B]] : f16 to f32
// CHECK-NEXT:      [[P:%.*]] = arith.mulf [[A32]], [[B32]] : f32
// CHECK-NEXT:      [[S:%.*]] = arith.addf [[C]], [[P]] : f32
// CHECK-NEXT:      linalg.yield [[S]] : f32
func.func @matmul_extends_to_the_accumulator(%a: tensor<4x8xf16>, %b: tensor<8x3xf16>, %c: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x3xf16>) outs(%c : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @unsigned_cast
// CHECK:         arith.extui
// CHECK-NEXT:    arith.extui
func.func @unsigned_cast(%a: tensor<4x8xi8>, %b: tensor<8x3xi8>, %c: tensor<4x3xi32>) -> tensor<4x3xi32> {
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<4x8xi8>, tensor<8x3xi8>) outs(%c : tensor<4x3xi32>) -> tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}

// CHECK-LABEL: func.func @strides_and_dilations
// CHECK:         affine_map<(d0, d1, d2, d3, d4) -> (d0, ((d1 * 2) + (d3 * 3)), d4)>
// CHECK-SAME:    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @strides_and_dilations(%x: tensor<1x11x2xf32>, %k: tensor<3x2x5xf32>, %o: tensor<1x3x5xf32>) -> tensor<1x3x5xf32> {
  %r = linalg.conv_1d_nwc_wcf {dilations = dense<3> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%x, %k : tensor<1x11x2xf32>, tensor<3x2x5xf32>) outs(%o : tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
  return %r : tensor<1x3x5xf32>
}

// CHECK-LABEL: func.func @maps_given_by_the_user
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
func.func @maps_given_by_the_user(%a: tensor<8x4xf32>, %b: tensor<8x3xf32>, %c: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<8x4xf32>, tensor<8x3xf32>) outs(%c : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @transpose_and_broadcast
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>]
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>]
func.func @transpose_and_broadcast(%x: tensor<4x2x3xf32>, %t: tensor<2x3x4xf32>, %b: tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32> {
  %0 = linalg.transpose ins(%x : tensor<4x2x3xf32>) outs(%t : tensor<2x3x4xf32>) permutation = [1, 2, 0]
  %1 = linalg.broadcast ins(%0 : tensor<2x3x4xf32>) outs(%b : tensor<2x5x3x4xf32>) dimensions = [1]
  return %1 : tensor<2x5x3x4xf32>
}

// The short form of a reduction puts the accumulator first.
// CHECK-LABEL: func.func @reduce
// CHECK:         iterator_types = ["parallel", "reduction"]
// CHECK:         ^bb0([[X:%.*]]: f32, [[ACC:%.*]]: f32):
// CHECK-NEXT:      arith.subf [[ACC]], [[X]] : f32
func.func @reduce(%x: tensor<4x3xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.reduce { arith.subf } ins(%x : tensor<4x3xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}

// The body of a map gets the argument of the output that generic wants.
// CHECK-LABEL: func.func @map
// CHECK:         ^bb0([[X:%.*]]: f32, {{%.*}}: f32):
// CHECK-NEXT:      math.exp [[X]] : f32
func.func @map(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @fill_casts_its_value
// CHECK:         [[H:%.*]] = arith.truncf %v : f32 to f16
// CHECK:         linalg.fill ins([[H]] : f16)
func.func @fill_casts_its_value(%v: f32, %o: tensor<4xf16>) -> tensor<4xf16> {
  %r = linalg.fill ins(%v : f32) outs(%o : tensor<4xf16>) -> tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @softmax
// CHECK:         arith.constant 0xff800000 : f32
// CHECK:         arith.maximumf
// CHECK:         arith.subf
// CHECK-NEXT:    math.exp
// CHECK:         arith.addf
// CHECK:         arith.divf
func.func @softmax(%x: tensor<4x?xf32>, %o: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %r = linalg.softmax dimension(0) ins(%x : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @elementwise_with_a_transposed_operand
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK:           arith.subf
func.func @elementwise_with_a_transposed_operand(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = linalg.elementwise kind=#linalg.elementwise_kind<sub> indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>] ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
