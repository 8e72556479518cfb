// RUN: ingot-opt %s -p 'slices-to-generic' --split-input-file --verify-diagnostics

func.func @computed_size(%x: tensor<8xf32>, %t: tensor<index>) -> tensor<?xf32> {
  %i = tensor.extract %t[] : tensor<index>
  // expected-error@+1 {{with a size or a stride that is computed at run time is not supported yet}}
  %0 = tensor.extract_slice %x[0] [%i] [1] : tensor<8xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}
