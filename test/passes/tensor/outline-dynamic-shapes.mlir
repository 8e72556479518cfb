// RUN: ingot-opt %s -p 'outline-dynamic-shapes' --split-input-file | filecheck %s

// One kernel for the product and what follows it, four by four elements a thread: it gets the open
// size in a buffer, and a call with sizes that do not agree is refused.
// CHECK-LABEL: func.func @linear(%x: tensor<?x8xf32>, %w: tensor<?x4xf32>)
// CHECK:         %[[K:.*]] = tensor.dim %w
// CHECK:         %[[M:.*]] = tensor.dim %x
// CHECK:         %[[FITS:.*]] = arith.cmpi eq, %[[K]], %{{.*}} : index
// CHECK:         host.check %[[FITS]], "dimension 0 of argument 1 must be 8"
// CHECK:         %[[ROWS:.*]] = arith.ceildivui %[[M]], %{{.*}} : index
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         %[[R:.*]] = host.dispatch @linear_tanh over(%[[ROWS]], %[[ONE]]) use(%x, %w : tensor<?x8xf32>, tensor<?x4xf32>) sizes(%[[ROWS]], %[[M]]) -> tensor<?x4xf32> of(%[[M]])
// CHECK:         func.return %[[R]]
// CHECK:       func.func private @linear_tanh(%x: memref<?xf32>, %w: memref<?xf32>, %sizes: memref<?xi32>, %{{.*}}: memref<?xf32>)
// CHECK-SAME:      ingot.kernel
// CHECK-SAME:      ingot.names = ["x", "w", "sizes", "out"]
// CHECK:         memref.load %sizes
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:             arith.mulf
// CHECK:           math.tanh
// CHECK:           memref.store
// CHECK:           scf.if
// CHECK:             memref.store
#id = affine_map<(i, j) -> (i, j)>
func.func @linear(%x: tensor<?x8xf32>, %w: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<?x8xf32>, tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %a, %b : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.tanh %a : f32
    linalg.yield %t : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// What is static stays as it is; a static op that needs a size of the call does not. A long line is
// reduced by a threadgroup together.
// CHECK-LABEL: func.func @mean
// CHECK:         linalg.generic
// CHECK:         math.exp
// CHECK:         %[[LANES:.*]] = arith.select
// CHECK:         %[[S:.*]] = host.dispatch @mean_sum over(%[[LANES]]) use(%x : tensor<?xf32>) sizes(%[[LANES]], %{{.*}}) turns(%{{.*}}) -> tensor<f32>
// CHECK:         host.dispatch @mean_div over() use(%[[S]] : tensor<f32>) sizes(%{{.*}}) -> tensor<f32>
#scalar = affine_map<() -> ()>
func.func @mean(%x: tensor<?xf32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %i = arith.index_cast %n : index to i32
  %d = arith.sitofp %i : i32 to f32
  %e = tensor.empty() : tensor<f32>
  %exp = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%y : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %mean = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%sum : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.divf %a, %d : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %exp, %mean, %sum : tensor<f32>, tensor<f32>, tensor<f32>
}
