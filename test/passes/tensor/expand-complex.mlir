// RUN: ingot-opt %s -p 'expand-complex' | filecheck %s

// Arguments and results are pairs; the source's types stay readable for the bundle.
// CHECK-LABEL: func.func @square(%x: tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-SAME:      ingot.signature = (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
// CHECK:         affine_map<(d0) -> (d0, 0)>
// CHECK:         affine_map<(d0) -> (d0, 1)>
// CHECK:         %{{.*}}, %{{.*}} = linalg.generic
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[AA:.*]] = arith.mulf %[[A]], %[[A]] : f32
// CHECK-NEXT:      %[[BB:.*]] = arith.mulf %[[B]], %[[B]] : f32
// CHECK-NEXT:      %[[RE:.*]] = arith.subf %[[AA]], %[[BB]] : f32
// CHECK:           linalg.yield %[[RE]], %{{.*}} : f32, f32
func.func @square(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xcomplex<f32>>) outs(%e : tensor<4xcomplex<f32>>) {
  ^bb0(%v: complex<f32>, %o: complex<f32>):
    %r = complex.mul %v, %v : complex<f32>
    linalg.yield %r : complex<f32>
  } -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// Ops that move elements do so with each part.
// CHECK-LABEL: func.func @moved
// CHECK:         %[[RE:.*]] = tensor.extract_slice %{{.*}}[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
// CHECK-NEXT:    %[[IM:.*]] = tensor.extract_slice %{{.*}}[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
func.func @moved(%x: tensor<4xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = tensor.extract_slice %x[1] [2] [1] : tensor<4xcomplex<f32>> to tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// A pair chosen by a branch.
// CHECK-LABEL: func.func @branch
// CHECK:         %{{.*}}, %{{.*}} = scf.if %{{.*}} -> (f32, f32) {
// CHECK:           scf.yield %{{.*}}, %{{.*}} : f32, f32
func.func @branch(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xcomplex<f32>>) outs(%e : tensor<4xcomplex<f32>>) {
  ^bb0(%v: complex<f32>, %o: complex<f32>):
    %r = scf.if %true -> (complex<f32>) {
      %n = complex.neg %v : complex<f32>
      scf.yield %n : complex<f32>
    } else {
      scf.yield %v : complex<f32>
    }
    linalg.yield %r : complex<f32>
  } -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
