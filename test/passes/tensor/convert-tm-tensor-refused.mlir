// RUN: ingot-opt %s -p 'convert-tm-tensor' --split-input-file --verify-diagnostics

func.func @starts_from_a_value(%x: tensor<8xf32>, %i: tensor<f32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error@+1 {{an inclusive tm_tensor.scan that starts from a value is not supported yet}}
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<8xf32>) outs(%e, %i : tensor<8xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tm_tensor.yield %1 : f32
  } -> tensor<8xf32>, tensor<f32>
  return %0#0 : tensor<8xf32>
}
