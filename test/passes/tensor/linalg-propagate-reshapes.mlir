// RUN: ingot-opt %s -p 'linalg-propagate-reshapes,canonicalize-tensor' | filecheck %s

// The loop of the exponential is split, and the reshape moves to the argument.
// CHECK-LABEL: func.func @expand_between
// CHECK:         %[[X:.*]] = tensor.expand_shape %x
// CHECK:         %[[E:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x2x8xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[E]] : tensor<4x2x8xf32>)
func.func @expand_between(%x: tensor<8x8xf32>) -> tensor<2x4x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %2 = math.exp %a : f32
    linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [4, 2, 8] : tensor<8x8xf32> into tensor<4x2x8xf32>
  %f = tensor.empty() : tensor<2x4x8xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<4x2x8xf32>) outs(%f : tensor<2x4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x4x8xf32>
  return %t : tensor<2x4x8xf32>
}

// A loop whose position is used is put together from its parts.
// CHECK-LABEL: func.func @positions
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[S:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK:           %[[J:.*]] = linalg.index 1 : index
// CHECK:           arith.addi %[[S]], %[[J]] : index
func.func @positions(%x: tensor<4x2xi64>) -> tensor<4x2xi64> {
  %e = tensor.empty() : tensor<8xi64>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %2 = arith.index_cast %i : index to i64
    linalg.yield %2 : i64
  } -> tensor<8xi64>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 2] : tensor<8xi64> into tensor<4x2xi64>
  %f = tensor.empty() : tensor<4x2xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1, %x : tensor<4x2xi64>, tensor<4x2xi64>) outs(%f : tensor<4x2xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %2 = arith.addi %a, %b : i64
    linalg.yield %2 : i64
  } -> tensor<4x2xi64>
  return %r : tensor<4x2xi64>
}
