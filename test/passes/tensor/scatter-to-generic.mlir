// RUN: ingot-opt %s -p 'scatter-to-generic' | filecheck %s

// CHECK-LABEL: func.func @few
// CHECK:         %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, 0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%i, %u : tensor<4x1xi32>, tensor<4x3xf32>) outs(%t : tensor<5x3xf32>)
// CHECK:           [[HIT:%.*]] = arith.cmpi eq
// CHECK-NEXT:      [[NEW:%.*]] = arith.addf
// CHECK-NEXT:      arith.select [[HIT]], [[NEW]], {{.*}} : f32
func.func @few(%t: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %r = ingot.scatter dimensions = [0] ins(%i, %u : tensor<4x1xi32>, tensor<4x3xf32>) outs(%t : tensor<5x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    %new = arith.addf %old, %update : f32
    ingot.yield %new : f32
  }
  return %r : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @many
// CHECK:         [[K:%.*]], [[O:%.*]] = ingot.sort dimension = 0
// CHECK:         [[S:%.*]] = linalg.generic {{.*}} outs({{%.*}} : tensor<501xi32>)
// CHECK:           tensor.extract [[K]]
// CHECK:         %r = linalg.generic {{.*}} ins(%t : tensor<500x3xf32>)
// CHECK:           tensor.extract [[S]]
// CHECK:           tensor.extract [[S]]
// CHECK:           scf.for
// CHECK:             tensor.extract [[O]]
// CHECK:             tensor.extract %u
// CHECK:             arith.addf
func.func @many(%t: tensor<500x3xf32>, %i: tensor<400x1xi32>, %u: tensor<400x3xf32>) -> tensor<500x3xf32> {
  %r = ingot.scatter dimensions = [0] ins(%i, %u : tensor<400x1xi32>, tensor<400x3xf32>) outs(%t : tensor<500x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    %new = arith.addf %old, %update : f32
    ingot.yield %new : f32
  }
  return %r : tensor<500x3xf32>
}
