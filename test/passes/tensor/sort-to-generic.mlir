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

// Of any length: a loop over merges, and in it one over their steps.
// CHECK-LABEL: func.func @any_length
// CHECK:         scf.for [[M:%[0-9]+]] = {{.*}} -> (tensor<?xf32>, tensor<?xi32>)
// CHECK:           scf.for {{.*}} -> (tensor<?xf32>, tensor<?xi32>)
// CHECK:             arith.shli {{.*}}, [[M]] : index
// CHECK:             [[MASK:%.*]] = arith.index_cast {{.*}} : index to i32
// CHECK:             linalg.generic
// CHECK:               arith.xori {{.*}}, [[MASK]] : i32
func.func @any_length(%x: tensor<?xf32>) -> tensor<?xf32> {
  %s = ingot.sort dimension = 0 ins(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    ingot.yield %before : i1
  }
  return %s : tensor<?xf32>
}
