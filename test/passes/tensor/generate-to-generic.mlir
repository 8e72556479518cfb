// RUN: ingot-opt %s -p 'generate-to-generic' | filecheck %s

// CHECK-LABEL: func.func @generate
// CHECK:         linalg.generic
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[V:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK:           linalg.yield %[[V]] : i32
func.func @generate() -> tensor<4xi32> {
  %0 = tensor.generate {
  ^bb0(%i: index):
    %1 = arith.index_cast %i : index to i32
    tensor.yield %1 : i32
  } : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @splat
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<4xf32>)
func.func @splat() -> tensor<4xf32> {
  %c = arith.constant 1.0 : f32
  %0 = tensor.splat %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @from_elements
// CHECK:         linalg.generic
// CHECK:           arith.select %{{.*}}, %a, %{{.*}} : f32
func.func @from_elements(%t: tensor<f32>) -> tensor<2xf32> {
  %a = tensor.extract %t[] : tensor<f32>
  %b = arith.negf %a : f32
  %0 = tensor.from_elements %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @insert_element
// CHECK:         linalg.generic {{.*}} ins(%x : tensor<4xf32>)
// CHECK:           arith.cmpi eq
// CHECK:           arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @insert_element(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 1.0 : f32
  %i = arith.constant 2 : index
  %0 = tensor.insert %c into %x[%i] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
