// RUN: ingot-opt %s -p 'inline-calls' | filecheck %s

// Calls of calls disappear, and private functions that were called; public ones stay.
// CHECK-LABEL: func.func @main(%x: tensor<4xf32>)
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    linalg.exp ins(%x
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @twice
// CHECK-NOT:   func.call
// CHECK-NOT:   func.func private
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
