// REQUIRES: mlir-opt
// RUN: ingot-opt %s | %mlir-opt | filecheck %s
// RUN: %mlir-opt %s | ingot-opt | filecheck %s
// RUN: %mlir-opt %s --mlir-print-op-generic | ingot-opt | filecheck %s
// RUN: ingot-opt %s --print-op-generic | %mlir-opt | filecheck %s

// What upstream prints is read, and what is printed upstream reads.

// CHECK-LABEL: func.func @both
// CHECK:         linalg.fill
// CHECK:         linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
// CHECK:         scf.forall
// CHECK:           tensor.parallel_insert_slice
// CHECK:         tensor.generate
// CHECK:         tensor.gather
// CHECK:         arith.addf %{{.*}}, %{{.*}} fastmath<{{.*}}> : f32
func.func @both(%x: tensor<1x3x9x9xf32>, %k: tensor<4x3x3x3xf32>, %n: index, %i: tensor<5x1xindex>, %t: tensor<8x4xf32>, %v: f32) -> (tensor<1x4x4x4xf32>, tensor<8x4xf32>, tensor<?xindex>, tensor<5x1x4xf32>, f32) {
  %c = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %k : tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %l = scf.forall (%j) = (0) to (8) step (2) shared_outs(%o = %t) -> (tensor<8x4xf32>) {
    %s = tensor.extract_slice %o[%j, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%j, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<8x4xf32>
    }
  } {mapping = [#gpu.block<x>]}
  %g = tensor.generate %n {
  ^bb0(%a: index):
    tensor.yield %a : index
  } : tensor<?xindex>
  %q = tensor.gather %t[%i] gather_dims([0]) : (tensor<8x4xf32>, tensor<5x1xindex>) -> tensor<5x1x4xf32>
  %w = arith.addf %v, %v fastmath<reassoc,contract> : f32
  return %r, %l, %g, %q, %w : tensor<1x4x4x4xf32>, tensor<8x4xf32>, tensor<?xindex>, tensor<5x1x4xf32>, f32
}
