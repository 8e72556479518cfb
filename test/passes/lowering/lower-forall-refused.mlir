// RUN: ingot-opt %s --split-input-file --verify-diagnostics -p 'lower-forall'

func.func @unmapped(%x: memref<8xf32>) attributes {ingot.kernel} {
  // expected-error@+1 {{`scf.forall` needs a mapping to threadgroups or to threads}}
  scf.forall (%i) in (8) {
  }
  return
}

// -----

func.func @divergent_barrier(%x: memref<8xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 32, 1, 1>} {
  // expected-error@+1 {{a barrier in a loop of 8 iterations over 32 threads: not every thread would reach it}}
  scf.forall (%i) in (8) {
    gpu.barrier
  } {mapping = [#gpu.thread<linear_dim_0>]}
  return
}
