// RUN: ingot-opt %s -p 'inline-calls' --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{function main calls itself, which is not supported}}
  %0 = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{function elsewhere has no body}}
  %0 = func.call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @main(%p: tensor<i1>) -> tensor<i1> {
  %0 = func.call @branches(%p) : (tensor<i1>) -> tensor<i1>
  return %0 : tensor<i1>
}
// expected-error@+1 {{function branches has branches between blocks, which is not supported}}
func.func private @branches(%p: tensor<i1>) -> tensor<i1> {
  cf.br ^end(%p : tensor<i1>)
^end(%q: tensor<i1>):
  return %q : tensor<i1>
}
