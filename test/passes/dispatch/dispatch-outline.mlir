// RUN: ingot-opt %s -p 'dispatch-form,dispatch-outline' | filecheck %s

// What a region only hands on is no kernel's result.
// CHECK-LABEL: func.func @handed_on
// CHECK-NEXT:    return %x : tensor<4xf32>
func.func @handed_on(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.region -> (tensor<4xf32>) {
    dispatch.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Kernels are named after what they compute, their inputs after the source.
// CHECK-LABEL: func.func @step
// CHECK-NEXT:    %[[E:.*]] = dispatch.call @step_exp(%weight) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %[[T:.*]] = tensor.expand_shape %[[E]]
// CHECK-NEXT:    %[[N:.*]] = dispatch.call @step_transpose(%[[T]]) : (tensor<2x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    func.return %[[N]]
// CHECK:       func.func private @step_exp(%weight: tensor<8xf32>) -> tensor<8xf32> attributes {ingot.kind = "pointwise", ingot.kernel, ingot.names = ["weight", "out"]}
// CHECK:         math.exp
// CHECK:         func.return
// CHECK:       func.func private @step_transpose
// CHECK-SAME:    ingot.names = ["exp", "out"]
func.func @step(%weight: tensor<8xf32>) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%weight : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %s = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %f = tensor.empty() : tensor<4x2xf32>
  %transposed = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2x4xf32>) outs(%f : tensor<4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x2xf32>
  return %transposed : tensor<4x2xf32>
}
