// RUN: ingot-opt %s -p 'linalg-compact-outputs' | filecheck %s

// CHECK-LABEL: func.func @permuted_output_stays
// CHECK:         %r = linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return %r
func.func @permuted_output_stays(%a: tensor<5x7xf32>, %o: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5x7xf32>) outs(%o : tensor<7x5xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}

// CHECK-LABEL: func.func @strided
// CHECK:         [[E:%.*]] = tensor.empty() : tensor<5xf32>
// CHECK-NEXT:    [[C:%.*]] = linalg.generic {{.*}} ins(%a : tensor<5xf32>) outs([[E]] : tensor<5xf32>)
// CHECK:         %r = linalg.generic {{.*}} ins(%o : tensor<9xf32>) outs({{%.*}} : tensor<9xf32>)
// CHECK:           tensor.extract [[C]]
// CHECK:           arith.select
// CHECK:         return %r
func.func @strided(%a: tensor<5xf32>, %o: tensor<9xf32>) -> tensor<9xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * 2)>], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}

// What the body reads of the output is taken out first.
// CHECK-LABEL: func.func @row_of_sums
// CHECK:         [[I:%.*]] = linalg.generic {indexing_maps = [affine_map<(d0) -> (1, d0)>, affine_map<(d0) -> (d0)>], {{.*}} ins(%o : tensor<3x5xf32>)
// CHECK:         linalg.generic {{.*}} ins(%a : tensor<7x5xf32>) outs([[I]] : tensor<5xf32>)
func.func @row_of_sums(%a: tensor<7x5xf32>, %o: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (1, d1)>], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<7x5xf32>) outs(%o : tensor<3x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %n = arith.addf %acc, %x : f32
    linalg.yield %n : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
