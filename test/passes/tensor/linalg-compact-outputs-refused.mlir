// RUN: ingot-opt %s -p 'linalg-compact-outputs' --split-input-file --verify-diagnostics

func.func @written_twice(%a: tensor<7x5xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{linalg.generic writes each element of result 0 more than once: its map (d0, d1) -> (d1) leaves out a parallel loop}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<7x5xf32>) outs(%o : tensor<5xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

func.func @running_sum(%a: tensor<5xf32>, %o: tensor<5xf32>, %p: tensor<f32>) -> tensor<5xf32> {
  // expected-error@+1 {{result 0 of linalg.generic is indexed by a reduction loop in the map (d0) -> (d0)}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a : tensor<5xf32>) outs(%o, %p : tensor<5xf32>, tensor<f32>) {
  ^bb0(%x: f32, %old: f32, %acc: f32):
    %n = arith.addf %acc, %x : f32
    linalg.yield %n, %n : f32, f32
  } -> (tensor<5xf32>, tensor<f32>)
  return %r#0 : tensor<5xf32>
}

// -----

func.func @sum_of_loops(%a: tensor<5x3xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  // expected-error@+1 {{linalg.generic that writes by the map (d0, d1) -> ((d0 + d1)) is not supported}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 + d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5x3xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

func.func @dynamic(%a: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{linalg.generic that writes a tensor<?xf32> by the map (d0) -> ((d0 * 2)) is not supported}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * 2)>], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
