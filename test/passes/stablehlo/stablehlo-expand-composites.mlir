// RUN: ingot-opt %s -p 'stablehlo-expand-composites' | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %y = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %y
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.composite "my.twice" %x {composite_attributes = {n = 2 : i64}, decomposition = @twice, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
