// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --print-op-generic | ingot-opt | filecheck %s

// CHECK-LABEL: func.func @forall
// CHECK:         scf.forall (%i, %j) in (8, %n) shared_outs(%o = %x) -> (tensor<64x32xf32>) {
// CHECK:           scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice %s into %o[%i, 0] [8, 32] [1, 1] : tensor<8x32xf32> into tensor<64x32xf32>
// CHECK:         } {mapping = [#gpu.block<y>, #gpu.block<x>]}
func.func @forall(%x: tensor<64x32xf32>, %n : index) -> tensor<64x32xf32> {
  %r = scf.forall (%i, %j) in (8, %n) shared_outs(%o = %x) -> (tensor<64x32xf32>) {
    %s = tensor.extract_slice %o[%i, 0] [8, 32] [1, 1] : tensor<64x32xf32> to tensor<8x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [8, 32] [1, 1] : tensor<8x32xf32> into tensor<64x32xf32>
    }
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}
  return %r : tensor<64x32xf32>
}

// CHECK-LABEL: func.func @forall_without_results
// CHECK:         scf.forall (%i) = (1) to (%n) step (4) {
// CHECK-NEXT:    }
func.func @forall_without_results(%n : index) {
  scf.forall (%i) = (1) to (%n) step (4) {
  }
  return
}

// CHECK-LABEL: func.func @loop_over_i32
// CHECK:         scf.for %i = %n to %n step %n : i32 {
func.func @loop_over_i32(%n : i32) {
  scf.for %i = %n to %n step %n : i32 {
  }
  return
}
