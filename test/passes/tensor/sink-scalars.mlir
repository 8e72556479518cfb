// RUN: ingot-opt %s -p 'sink-scalars' | filecheck %s

// The host reads nothing back: the scalar is computed where it is used.
// CHECK-LABEL: func.func @scale
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    linalg.generic
// CHECK:           %[[S:.*]] = tensor.extract %t[] : tensor<f32>
// CHECK:           %[[N:.*]] = arith.negf %[[S]] : f32
// CHECK:           arith.mulf %{{.*}}, %[[N]] : f32
func.func @scale(%x: tensor<4xf32>, %t: tensor<f32>) -> tensor<4xf32> {
  %s = tensor.extract %t[] : tensor<f32>
  %n = arith.negf %s : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.mulf %a, %n : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A fill with a value that the host would have to fetch is computed on the device.
// CHECK-LABEL: func.func @fill
// CHECK-NOT:     linalg.fill
// CHECK:         linalg.generic
// CHECK:           tensor.extract %t[] : tensor<f32>
func.func @fill(%t: tensor<f32>) -> tensor<4xf32> {
  %s = tensor.extract %t[] : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
