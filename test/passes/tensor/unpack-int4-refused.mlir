// RUN: ingot-opt %s -p 'unpack-int4' --split-input-file --verify-diagnostics

// expected-error@+1 {{tensor<?xi4> packs an unknown number of elements two to a byte}}
func.func @dynamic(%x: tensor<?xi4>) -> tensor<?xi4> {
  return %x : tensor<?xi4>
}

// -----

func.func @division(%x: tensor<4xi4>) -> tensor<4xi4> {
  %e = tensor.empty() : tensor<4xi4>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xi4>) outs(%e : tensor<4xi4>) {
  ^bb0(%q: i4, %o: i4):
    // expected-error@+1 {{arith.divui on i4 is not supported}}
    %r = arith.divui %q, %q : i4
    linalg.yield %r : i4
  } -> tensor<4xi4>
  return %0 : tensor<4xi4>
}

// -----

func.func @division_of_what_was_computed(%x: tensor<4xi4>) -> tensor<4xi4> {
  %e = tensor.empty() : tensor<4xi4>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xi4>) outs(%e : tensor<4xi4>) {
  ^bb0(%q: i4, %o: i4):
    %s = arith.addi %q, %q : i4
    // expected-error@+1 {{arith.divsi on i4 is not supported}}
    %r = arith.divsi %s, %q : i4
    linalg.yield %r : i4
  } -> tensor<4xi4>
  return %0 : tensor<4xi4>
}
