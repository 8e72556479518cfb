// RUN: ingot-opt %s -p 'outline-dynamic-shapes' --split-input-file --verify-diagnostics

func.func @rounded_up(%x: tensor<8xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error@+1 {{the index (d0 ceildiv 2) into a tensor of dynamic shape is not supported yet}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i ceildiv 2)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @computed_dim(%x: tensor<?x?xf32>, %d: tensor<i32>) -> tensor<f32> {
  %s = tensor.extract %d[] : tensor<i32>
  %k = arith.index_cast %s : i32 to index
  // expected-error@+1 {{tensor.dim of a computed dimension is not supported}}
  %n = tensor.dim %x, %k : tensor<?x?xf32>
  %i = arith.index_cast %n : index to i32
  %f = arith.sitofp %i : i32 to f32
  %e = tensor.empty() : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%e : tensor<f32>) {
  ^bb0(%o: f32):
    linalg.yield %f : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @indices(%x: tensor<?xindex>) -> tensor<?xindex> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xindex>
  %e = tensor.empty(%n) : tensor<?xindex>
  // expected-error@+1 {{elements of type index in a tensor of dynamic shape are not supported yet}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xindex>) {
  ^bb0(%o: index):
    %j = linalg.index 0 : index
    linalg.yield %j : index
  } -> tensor<?xindex>
  return %r : tensor<?xindex>
}

// -----

func.func @by_size(%x: tensor<?xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %one = arith.constant 1.0 : f32
  // expected-error@+1 {{tensor.insert by a size of a dynamic shape is not supported yet}}
  %r = tensor.insert %one into %t[%n] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @row_of_many(%x: tensor<?x?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{linalg.generic of dynamic shape that writes by (d0, d1) -> (d0) is not supported}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
