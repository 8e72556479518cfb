// RUN: ingot-opt %s -p 'dispatch-unfold-convolutions' --split-input-file | filecheck %s
// RUN: ingot-opt %s -p 'dispatch-unfold-convolutions,dispatch-collapse-dims' --split-input-file | filecheck %s --check-prefix=MERGED

// A convolution becomes a contraction of the windows, which are read from the image by index; what
// pads the image becomes part of that. Then the loops of the windows are one, those of the sum another.
// CHECK-LABEL: func.func @conv
// CHECK:       dispatch.region
// CHECK:         %windows = linalg.generic {{.*}} outs({{.*}} : tensor<8x8x3x3x16xf32>) attrs = {ingot.unfolded}
// CHECK:           affine.apply affine_map<(d0, d1) -> ((d0 + d1))>
// CHECK:           arith.cmpi sge
// CHECK:           tensor.extract %x
// CHECK:           arith.select
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>]
// CHECK-SAME:      ins(%windows, %w

// MERGED-LABEL: func.func @conv
// MERGED:       tensor.collapse_shape %w {{.*}} into tensor<144x32xf32>
// MERGED:       dispatch.region
// MERGED:         %windows = linalg.generic {{.*}} outs({{.*}} : tensor<64x144xf32>)
// MERGED:           linalg.index 0
// MERGED-NEXT:      affine.apply affine_map<(d0) -> ((d0 floordiv 8))>
// MERGED:           affine.apply affine_map<(d0) -> ((d0 mod 8))>
// MERGED:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
func.func @conv(%x: tensor<8x8x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<8x8x32xf32> {
  %padded = dispatch.region -> (tensor<10x10x16xf32>) attributes {ingot.kind = "pointwise"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<10x10x16xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(i, j, c) -> (i, j, c)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<10x10x16xf32>) {
    ^bb0(%out: f32):
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %7 = arith.constant 7 : index
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %c = linalg.index 2 : index
      %h = arith.subi %i, %1 : index
      %h0 = arith.maxsi %h, %0 : index
      %h1 = arith.minsi %h0, %7 : index
      %w0 = arith.maxsi %j, %0 : index
      %w1 = arith.minsi %w0, %7 : index
      %inside = arith.cmpi sge, %h, %0 : index
      %v = tensor.extract %x[%h1, %w1, %c] : tensor<8x8x16xf32>
      %s = arith.select %inside, %v, %zero : f32
      linalg.yield %s : f32
    } -> tensor<10x10x16xf32>
    dispatch.yield %p : tensor<10x10x16xf32>
  }
  %r = dispatch.region -> (tensor<8x8x32xf32>) attributes {ingot.kind = "pointwise"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x8x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8x32xf32>) -> tensor<8x8x32xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(h, w, f, i, j, c) -> (h + i, w + j, c)>, affine_map<(h, w, f, i, j, c) -> (i, j, c, f)>, affine_map<(h, w, f, i, j, c) -> (h, w, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%padded, %w : tensor<10x10x16xf32>, tensor<3x3x16x32xf32>) outs(%f : tensor<8x8x32xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<8x8x32xf32>
    dispatch.yield %y : tensor<8x8x32xf32>
  }
  func.return %r : tensor<8x8x32xf32>
}

// -----

// A depthwise convolution has nothing that a contraction could share.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT:     ingot.unfolded
// CHECK:         func.return
func.func @depthwise(%x: tensor<10x10x16xf32>, %w: tensor<3x3x16xf32>) -> tensor<8x8x16xf32> {
  %r = dispatch.region -> (tensor<8x8x16xf32>) attributes {ingot.kind = "pointwise"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x8x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(h, w, c, i, j) -> (h + i, w + j, c)>, affine_map<(h, w, c, i, j) -> (i, j, c)>, affine_map<(h, w, c, i, j) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<10x10x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<8x8x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<8x8x16xf32>
    dispatch.yield %y : tensor<8x8x16xf32>
  }
  func.return %r : tensor<8x8x16xf32>
}
