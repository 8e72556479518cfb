// RUN: ingot-opt %s -p 'outline-dynamic-shapes' --split-input-file --verify-diagnostics

func.func @reversed(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  // expected-error@+1 {{into a tensor of dynamic shape is not supported yet}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (7 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @branch(%x: tensor<?xf32>, %p: tensor<?xi1>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %p : tensor<?xf32>, tensor<?xi1>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: i1, %o: f32):
    // expected-error@+1 {{scf.if over tensors of dynamic shape is not supported yet}}
    %t = scf.if %b -> (f32) {
      scf.yield %a : f32
    } else {
      %s = math.exp %a : f32
      scf.yield %s : f32
    }
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
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

func.func @strided(%x: tensor<?xf32>, %d: tensor<4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  // expected-error@+1 {{tensor.extract_slice with a computed stride is not supported yet}}
  %r = tensor.extract_slice %x[0] [%n] [%n] : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @strided_insert(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{tensor.insert_slice of dynamic shape with a stride is not supported yet}}
  %r = tensor.insert_slice %y into %x[0] [4] [2] : tensor<4xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @computed_pad(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{tensor.pad of dynamic shape with a computed value is not supported yet}}
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
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
