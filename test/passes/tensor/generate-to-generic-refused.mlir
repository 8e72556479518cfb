// RUN: ingot-opt %s -p 'generate-to-generic' --verify-diagnostics

func.func @sizes_of_data(%x: tensor<?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  // expected-error@+1 {{tensor.reshape to sizes that are read from a tensor is not supported}}
  %0 = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
