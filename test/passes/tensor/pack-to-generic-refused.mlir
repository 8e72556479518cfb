// RUN: ingot-opt %s -p 'pack-to-generic' --split-input-file --verify-diagnostics

func.func @no_padding(%x: tensor<7xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{linalg.pack cuts a dimension into tiles that do not fill it}}
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into %o : tensor<7xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @wrong_shape(%x: tensor<8xf32>, %o: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{linalg.pack needs a packed tensor of the shape 2x4}}
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into %o : tensor<8xf32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @no_such_dimension(%x: tensor<8xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{linalg.pack has dimensions or tiles that its tensor does not have}}
  %0 = linalg.pack %x inner_dims_pos = [1] inner_tiles = [4] into %o : tensor<8xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @computed_tile(%x: tensor<8xf32>, %o: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  // expected-error@+1 {{linalg.pack by tiles that are computed at run time is not supported}}
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [%n] into %o : tensor<8xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
