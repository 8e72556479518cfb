// RUN: ingot-opt %s -p 'slices-to-generic' --verify-diagnostics

func.func @computed_size(%x: tensor<9xf32>, %n: index) -> tensor<?xf32> {
  // expected-error@+1 {{tensor.extract_slice with a size that is computed at run time is not supported yet}}
  %0 = tensor.extract_slice %x[0] [%n] [1] : tensor<9xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}
