// RUN: ingot-opt %s -p 'demote-f64{all=true}' | filecheck %s

// CHECK-LABEL: func.func @signature
// CHECK-SAME:    (%x: tensor<4xf32>) -> tensor<4xf32>
func.func @signature(%x: tensor<4xf64>) -> tensor<4xf64> {
  return %x : tensor<4xf64>
}
