// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @mapping_of_another_rank() {
  // expected-error@+1 {{mapping must name each of the 2 loops}}
  scf.forall (%i, %j) in (8, 8) {
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @shared_output_of_another_type(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{a shared output, its argument and its result have one type}}
  %0 = "scf.forall"(%x) <{staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: 2>, staticStep = array<i64: 1>, operandSegmentSizes = array<i32: 0, 0, 0, 1>}> ({
  ^bb0(%i: index, %o: tensor<4xf32>):
    "scf.forall.in_parallel"() ({
    ^bb1:
    }) : () -> ()
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}
