// RUN: ingot-opt %s -p 'sort-to-generic' | filecheck %s

// Three elements take three steps: neighbours, mirrored pairs, neighbours.
// CHECK-LABEL: func.func @three
// CHECK:         [[P:%.*]] = linalg.generic
// CHECK:           linalg.index 0
// CHECK:         arith.constant dense<[1, -1]> : tensor<2xi32>
// CHECK:         [[A:%.*]], [[B:%.*]] = linalg.generic
// CHECK:           tensor.extract %x[
// CHECK:           tensor.extract [[P]][
// CHECK:           arith.cmpf olt
// CHECK:           arith.cmpf olt
// CHECK:           linalg.yield {{.*}} : f32, i32
// CHECK:         arith.constant dense<[3, -1]> : tensor<2xi32>
// CHECK:           tensor.extract [[A]][
// CHECK:           tensor.extract [[B]][
// CHECK:         arith.constant dense<[1, -1]> : tensor<2xi32>
// CHECK:         %s, {{.*}} = linalg.generic
// CHECK:         return %s
func.func @three(%x: tensor<3xf32>) -> tensor<3xf32> {
  %s = ingot.sort dimension = 0 ins(%x : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    ingot.yield %before : i1
  }
  return %s : tensor<3xf32>
}

// CHECK-LABEL: func.func @one
// CHECK-NEXT:    return %x
func.func @one(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %s = ingot.sort dimension = 0 ins(%x : tensor<1x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    ingot.yield %before : i1
  }
  return %s : tensor<1x4xf32>
}
