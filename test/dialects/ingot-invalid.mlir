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

// -----

func.func @sort_body_takes_one_element(%x: tensor<8xf32>) {
  // expected-error@+1 {{the body must take two elements of each operand}}
  %s = ingot.sort dimension = 0 ins(%x : tensor<8xf32>) {
  ^bb0(%a: f32):
    %before = arith.cmpf olt, %a, %a : f32
    ingot.yield %before : i1
  }
  return
}

// -----

func.func @sort_body_yields_a_number(%x: tensor<8xf32>) {
  // expected-error@+1 {{the body must yield an i1}}
  %s = ingot.sort dimension = 0 ins(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    ingot.yield %a : f32
  }
  return
}

// -----

func.func @update_of_another_shape(%t: tensor<5x3xf32>, %i: tensor<2x1xi32>, %u: tensor<2x4xf32>) {
  // expected-error@+1 {{an update must have the shape of the indices without their last dimension}}
  %r = ingot.scatter dimensions = [0] ins(%i, %u : tensor<2x1xi32>, tensor<2x4xf32>) outs(%t : tensor<5x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    ingot.yield %update : f32
  }
  return
}

// -----

func.func @too_few_coordinates(%t: tensor<5x3xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) {
  // expected-error@+1 {{the last dimension of the indices must have 2 elements}}
  %r = ingot.scatter dimensions = [0, 1] ins(%i, %u : tensor<2x1xi32>, tensor<2xf32>) outs(%t : tensor<5x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    ingot.yield %update : f32
  }
  return
}
