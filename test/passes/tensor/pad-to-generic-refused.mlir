// RUN: ingot-opt %s -p 'pad-to-generic' --split-input-file --verify-diagnostics

func.func @negative(%x: tensor<4xf32>) -> tensor<3xf32> {
  %c = arith.constant 7.0 : f32
  // expected-error@+1 {{tensor.pad by a negative amount is not defined}}
  %0 = tensor.pad %x low[-1] high[0] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<4xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}
