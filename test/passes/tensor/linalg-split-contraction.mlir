// RUN: ingot-opt %s -p 'linalg-split-contraction' | filecheck %s

// Few tiles with a long sum: chunks side by side, then their sum from where the product started.
// CHECK-LABEL: func.func @split_k
// CHECK:         [[X:%.*]] = tensor.expand_shape %x {{.*}} output_shape [64, 128, 512] : tensor<64x65536xf32> into tensor<64x128x512xf32>
// CHECK:         [[Y:%.*]] = tensor.expand_shape %y {{.*}} output_shape [128, 512, 64] : tensor<65536x64xf32> into tensor<128x512x64xf32>
// CHECK:         [[P:%.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins([[X]], [[Y]] : tensor<64x128x512xf32>, tensor<128x512x64xf32>)
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "parallel"]} ins([[P]] : tensor<128x64x64xf32>) outs(%i : tensor<64x64xf32>)
func.func @split_k(%x: tensor<64x65536xf32>, %y: tensor<65536x64xf32>, %i: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x65536xf32>, tensor<65536x64xf32>) outs(%i : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A vector times a matrix, in f16: partial sums are f32, and rounded once.
// CHECK-LABEL: func.func @vecmat
// CHECK:         arith.extf
// CHECK:         arith.mulf {{.*}} : f32
// CHECK:         -> tensor<64x4096xf32>
// CHECK:         -> tensor<4096xf32>
// CHECK:         arith.truncf {{.*}} : f32 to f16
func.func @vecmat(%x: tensor<4096xf16>, %y: tensor<4096x4096xf16>, %i: tensor<4096xf16>) -> tensor<4096xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(j, k) -> (k)>, affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<4096xf16>, tensor<4096x4096xf16>) outs(%i : tensor<4096xf16>) {
  ^bb0(%a: f16, %b: f16, %acc: f16):
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %acc, %p : f16
    linalg.yield %s : f16
  } -> tensor<4096xf16>
  return %r : tensor<4096xf16>
}

// Enough tiles, short sums, and rows that a threadgroup each reduces stay as they are.
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     tensor.expand_shape
func.func @whole(%x: tensor<2048x4096xf32>, %y: tensor<4096x2048xf32>, %v: tensor<4096xf32>, %i: tensor<2048x2048xf32>, %j: tensor<2048xf32>) -> (tensor<2048x2048xf32>, tensor<2048xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<2048x4096xf32>, tensor<4096x2048xf32>) outs(%i : tensor<2048x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2048x2048xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %v : tensor<2048x4096xf32>, tensor<4096xf32>) outs(%j : tensor<2048xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2048xf32>
  return %r, %q : tensor<2048x2048xf32>, tensor<2048xf32>
}
