// RUN: ingot-opt %s -p 'linalg-differentiate' --split-input-file --verify-diagnostics

// expected-error@+1 {{the module has 2 functions that could be differentiated: f, g}}
module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{the function has no argument of floats to differentiate by}}
func.func @integers(%x: tensor<4xi32>, %y: tensor<4xf32> {ingot.nograd}) -> tensor<4xi32> {
  return %x : tensor<4xi32>
}
