// RUN: ingot-opt %s -p 'split-scan' --verify-diagnostics

func.func @not_associative(%x: tensor<?xf32>, %e: tensor<?xf32>, %i: tensor<f32>) -> tensor<?xf32> {
  // expected-error@+1 {{a scan of dynamic shape whose body is not known to be associative is not supported}}
  %s, %l = ingot.scan inclusive dimension = 0 ins(%x : tensor<?xf32>) outs(%e, %i : tensor<?xf32>, tensor<f32>) {
  ^bb0(%acc: f32, %a: f32):
    %n = arith.subf %acc, %a : f32
    ingot.yield %n : f32
  }
  return %s : tensor<?xf32>
}
