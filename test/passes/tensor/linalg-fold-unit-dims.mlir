// RUN: ingot-opt %s -p 'linalg-fold-unit-dims,canonicalize-tensor' | filecheck %s

// A result with a dimension of size 1 loses it; the reshape at the border gives it back.
// CHECK-LABEL: func.func @row_sums
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]
// CHECK-SAME:    outs(%{{.*}} : tensor<4xf32>)
// CHECK:         tensor.expand_shape {{.*}} : tensor<4xf32> into tensor<4x1xf32>
func.func @row_sums(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x1xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// The position in a loop of extent 1 is 0; other positions are renumbered.
// CHECK-LABEL: func.func @positions
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK:           linalg.index 0 : index
// CHECK-NOT:       linalg.index 1
func.func @positions() -> tensor<1x8xindex> {
  %e = tensor.empty() : tensor<1x8xindex>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x8xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %1 = arith.addi %i, %j : index
    linalg.yield %1 : index
  } -> tensor<1x8xindex>
  return %0 : tensor<1x8xindex>
}

// -----

// A window over a part of its input: without the loop of extent 1 the other would run over all.
// CHECK-LABEL: func.func @partial_window
// CHECK:         affine_map<(d0, d1) -> (((d0 * 2) + d1))>
// CHECK-SAME:    ins(%x, %{{.*}} : tensor<4xf32>, tensor<3xf32>)
func.func @partial_window(%x: tensor<4xf32>, %w: tensor<3xf32>, %init: tensor<1xf32>) -> tensor<1xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<4xf32>, tensor<3xf32>) outs(%init : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
