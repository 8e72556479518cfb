// RUN: ingot-opt %s -p 'convert-tm-tensor' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @cumsum
// CHECK:         ingot.scan inclusive dimension = 1 ins(%x : tensor<4x8xf32>)
// CHECK:           ingot.yield
func.func @cumsum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%c : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %0:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x8xf32>) outs(%e, %i : tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tm_tensor.yield %1 : f32
  } -> tensor<4x8xf32>, tensor<4xf32>
  return %0#0 : tensor<4x8xf32>
}
