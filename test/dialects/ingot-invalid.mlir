// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @dimension_out_of_range(%x: tensor<5xf32>, %e: tensor<5xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{dimension 1 is out of range for tensor<5xf32>}}
  %s, %l = ingot.scan dimension = 1 ins(%x : tensor<5xf32>) outs(%e, %i : tensor<5xf32>, tensor<f32>) {
  ^bb0(%acc: f32, %v: f32):
    ingot.yield %acc : f32
  }
  return
}

// -----

func.func @accumulator_of_another_shape(%x: tensor<3x5xf32>, %e: tensor<3x5xf32>, %i: tensor<5xf32>) {
  // expected-error@+1 {{the initial accumulator must have the input's shape without the dimension}}
  %s, %l = ingot.scan dimension = 1 ins(%x : tensor<3x5xf32>) outs(%e, %i : tensor<3x5xf32>, tensor<5xf32>) {
  ^bb0(%acc: f32, %v: f32):
    ingot.yield %acc : f32
  }
  return
}
