// RUN: ingot-opt %s -p 'clamp-extracts' | filecheck %s

// An index from data is clamped; one from a loop that fits is not.
// CHECK-LABEL: func.func @gather
// CHECK:           %[[I:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:           %[[J:.*]] = linalg.index 1 : index
// CHECK:           %[[L:.*]] = arith.maxsi %[[I]], %{{.*}} : index
// CHECK:           %[[H:.*]] = arith.minsi %[[L]], %{{.*}} : index
// CHECK:           tensor.extract %table[%[[H]], %[[J]]]
func.func @gather(%table: tensor<257x64xf32>, %ids: tensor<8xi32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<8xi32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%id: i32, %o: f32):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<257x64xf32>
    linalg.yield %v : f32
  } -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @reversed
// CHECK-NOT:       arith.maxsi
// CHECK-NOT:       arith.minsi
func.func @reversed(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %v = tensor.extract %x[%j] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
