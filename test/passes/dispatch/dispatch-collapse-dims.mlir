// RUN: ingot-opt %s -p 'dispatch-form,dispatch-collapse-dims' --split-input-file | filecheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @elementwise
// CHECK-NEXT:    %[[X:.*]] = tensor.collapse_shape %x {{.*}} : tensor<2x3x4xf32> into tensor<24xf32>
// CHECK-NEXT:    %[[R:.*]] = dispatch.region -> (tensor<24xf32>)
// CHECK:           linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK:         tensor.expand_shape %[[R]] {{.*}} : tensor<24xf32> into tensor<2x3x4xf32>
func.func @elementwise(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// A vector along the last dimension keeps that one apart.
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @bias
// CHECK:           linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
func.func @bias(%x: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %b : tensor<2x3x4xf32>, tensor<4xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// Rows of a batch are rows: two row loops become one.
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @rows
// CHECK:         dispatch.region -> (tensor<64xf32>) attributes {ingot.kind = "row", ingot.row_dims = 1 : i64}
// CHECK:           linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
func.func @rows(%x: tensor<2x32x100xf32>, %i: tensor<2x32xf32>) -> tensor<2x32xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x32x100xf32>) outs(%i : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}

// -----

// A transposition cannot be flattened.
#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @transpose
// CHECK:           linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
func.func @transpose(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %0 = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
