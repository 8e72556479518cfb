// RUN: ingot-opt %s -p 'convert-elementwise-to-linalg' --split-input-file --verify-diagnostics

func.func @shapes_differ(%a: tensor<3xf16>) -> tensor<4xf32> {
  // expected-error@+1 {{arith.extf needs operands of the shape of its result}}
  %r = arith.extf %a : tensor<3xf16> to tensor<4xf32>
  return %r : tensor<4xf32>
}
