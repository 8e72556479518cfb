// RUN: ingot-opt %s -p 'demote-f64' --split-input-file --verify-diagnostics

// expected-error@+1 {{argument 0 is f64, which no target has}}
func.func @argument(%x: tensor<4xf64>) -> tensor<4xf64> {
  return %x : tensor<4xf64>
}

// -----

func.func @from_integer(%x: tensor<4xi32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: i32, %o: f32):
    // expected-error@+1 {{arith.sitofp needs f64, which no target has}}
    %1 = arith.sitofp %a : i32 to f64
    %2 = arith.truncf %1 : f64 to f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
