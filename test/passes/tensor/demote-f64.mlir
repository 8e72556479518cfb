// RUN: ingot-opt %s -p 'demote-f64' --split-input-file | filecheck %s

// CHECK:       ingot.warnings = ["f64 inside internal is computed in f32"]
// CHECK-LABEL: func.func @internal
// CHECK:         arith.constant 5.000000e-01 : f32
// CHECK:           arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NOT:       f64
func.func @internal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.extf %a : f32 to f64
    %2 = arith.mulf %1, %c : f64
    %3 = arith.truncf %2 : f64 to f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
