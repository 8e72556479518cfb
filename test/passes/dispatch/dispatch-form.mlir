// RUN: ingot-opt %s -p 'dispatch-form' --split-input-file | filecheck %s

// A matrix product and what follows it elementwise are one kernel.
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @matmul_relu
// CHECK-NEXT:    %{{.*}} = dispatch.region -> (tensor<64x16xf32>) attributes {ingot.kind = "pointwise"} {
// CHECK:           arith.mulf
// CHECK:           arith.maximumf
// CHECK:           dispatch.yield
// CHECK-NOT:     dispatch.region
func.func @matmul_relu(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%f : tensor<64x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %2 = arith.mulf %p, %q : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x16xf32>) outs(%e : tensor<64x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %2 = arith.maximumf %p, %z : f32
    linalg.yield %2 : f32
  } -> tensor<64x16xf32>
  return %1 : tensor<64x16xf32>
}

// -----

// A reduction of rows and what uses it along the rows are one kernel of rows.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @center_rows
// CHECK-NEXT:    dispatch.region -> (tensor<64x100xf32>) attributes {ingot.kind = "row", ingot.row_dims = 1 : i64} {
// CHECK-NOT:     dispatch.region
func.func @center_rows(%x: tensor<64x100xf32>) -> tensor<64x100xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x100xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %3 = arith.addf %o, %p : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %g = tensor.empty() : tensor<64x100xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %0 : tensor<64x100xf32>, tensor<64xf32>) outs(%g : tensor<64x100xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %3 = arith.subf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<64x100xf32>
  return %1 : tensor<64x100xf32>
}

// -----

// A transposed product is stored as it is computed: inside the kernel nothing is transposed.
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @transposed_product
// CHECK:         dispatch.region
// CHECK:           linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
// CHECK-SAME:        outs(%{{.*}} : tensor<16x64xf32>)
// CHECK:           linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
func.func @transposed_product(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<16x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%f : tensor<64x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %2 = arith.mulf %p, %q : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x16xf32>
  %g = tensor.empty() : tensor<16x64xf32>
  %1 = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x16xf32>) outs(%g : tensor<16x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %2 = arith.negf %p : f32
    linalg.yield %2 : f32
  } -> tensor<16x64xf32>
  return %1 : tensor<16x64xf32>
}

// -----

// A fill that a command can do stays one; a pattern of 8 bytes is written by a kernel.
// CHECK-LABEL: func.func @fills
// CHECK:         linalg.fill ins(%{{.*}} : i32)
// CHECK:         dispatch.region -> (tensor<4xi64>)
// CHECK-NOT:     linalg.fill ins(%{{.*}} : i64)
func.func @fills() -> (tensor<4xi32>, tensor<4xi64>) {
  %a = arith.constant 5 : i32
  %b = arith.constant 5 : i64
  %e = tensor.empty() : tensor<4xi32>
  %f = tensor.empty() : tensor<4xi64>
  %0 = linalg.fill ins(%a : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %1 = linalg.fill ins(%b : i64) outs(%f : tensor<4xi64>) -> tensor<4xi64>
  return %0, %1 : tensor<4xi32>, tensor<4xi64>
}
