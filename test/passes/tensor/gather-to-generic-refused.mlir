// RUN: ingot-opt %s -p 'gather-to-generic' --split-input-file --verify-diagnostics

func.func @no_such_shape(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) -> tensor<5x3xf32> {
  // expected-error@+1 {{tensor.gather needs slices of the shape 5x1x4 or 5x4}}
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

func.func @too_few_coordinates(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) -> tensor<5xf32> {
  // expected-error@+1 {{tensor.gather needs one coordinate for each of its increasing dimensions}}
  %0 = tensor.gather %x[%i] gather_dims([0, 1]) : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
