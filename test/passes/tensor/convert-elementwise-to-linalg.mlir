// RUN: ingot-opt %s -p 'convert-elementwise-to-linalg' | filecheck %s

// CHECK-LABEL: func.func @add
// CHECK:         %0 = tensor.empty() : tensor<5x7xf32>
// CHECK-NEXT:    %r = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<5x7xf32>, tensor<5x7xf32>) outs(%0 : tensor<5x7xf32>) {
// CHECK-NEXT:    ^bb0(%1: f32, %2: f32, %3: f32):
// CHECK-NEXT:      [[S:%.*]] = arith.addf %1, %2 fastmath<contract> : f32
// CHECK-NEXT:      linalg.yield [[S]] : f32
func.func @add(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %r = arith.addf %a, %b fastmath<contract> : tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// The condition is one for all elements.
// CHECK-LABEL: func.func @select_by_a_scalar
// CHECK:         ins(%a, %b : tensor<3xf32>, tensor<3xf32>)
// CHECK:           arith.select %c, {{%.*}}, {{%.*}} : f32
func.func @select_by_a_scalar(%t: tensor<i1>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %c = tensor.extract %t[] : tensor<i1>
  %r = arith.select %c, %a, %b : tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @result_of_another_type
// CHECK:         [[E:%.*]] = tensor.empty() : tensor<3xi1>
// CHECK:         outs([[E]] : tensor<3xi1>)
// CHECK:           arith.cmpf ogt, {{%.*}}, {{%.*}} : f32
func.func @result_of_another_type(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xi1> {
  %r = arith.cmpf ogt, %a, %b : tensor<3xf32>
  return %r : tensor<3xi1>
}
