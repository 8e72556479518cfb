// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --print-op-generic | ingot-opt | filecheck %s

// Forms that LLVM 19 prints.

// CHECK-LABEL: func.func @several_results
// CHECK:         {{.*}} -> (tensor<4xf32>, tensor<4xi32>)
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @several_results(%x: tensor<4x3xf32>, %a: tensor<4xf32>, %b: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x3xf32>) outs(%a, %b : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%in: f32, %out: f32, %out_0: i32):
    %1 = arith.addf %in, %out : f32
    linalg.yield %1, %out_0 : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @trait_by_name
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs({{.*}}) attrs = {tag = 1 : i64} {
#trait = {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]}
func.func @trait_by_name(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = linalg.generic #trait outs(%x : tensor<4x3xf32>) attrs = {tag = 1 : i64} {
  ^bb0(%out: f32):
    linalg.yield %out : f32
  } -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @named
// CHECK:         linalg.fill ins(%c : f32) outs(
// CHECK:         linalg.batch_matmul ins(
// CHECK:         linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(
// CHECK:         linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(
// CHECK:         linalg.select ins(
func.func @named(%c: f32, %a: tensor<2x4x8xf32>, %b: tensor<2x8x3xf32>, %o: tensor<2x4x3xf32>, %m: tensor<4x4xf32>, %x: tensor<1x8x8x2xf32>, %w: tensor<2x2xf32>, %p: tensor<1x4x4x2xf32>, %cond: tensor<4x4xi1>) -> (tensor<2x4x3xf32>, tensor<4x4xf32>, tensor<1x4x4x2xf32>, tensor<4x4xf32>) {
  %0 = linalg.fill ins(%c : f32) outs(%o : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %1 = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x3xf32>) outs(%0 : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%m, %m : tensor<4x4xf32>, tensor<4x4xf32>) outs(%m : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x8x8x2xf32>, tensor<2x2xf32>) outs(%p : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %4 = linalg.select ins(%cond, %m, %2 : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%m : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2, %3, %4 : tensor<2x4x3xf32>, tensor<4x4xf32>, tensor<1x4x4x2xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @with_a_body
// CHECK:         linalg.reduce ins({{.*}}) outs({{.*}}) dimensions = [1] (
// CHECK:           arith.addf
// CHECK:         linalg.map ins({{.*}}) outs({{.*}}) (
// CHECK:           math.exp
// CHECK:         linalg.transpose ins({{.*}}) outs({{.*}}) permutation = [1, 0]
// CHECK:         linalg.broadcast ins({{.*}}) outs({{.*}}) dimensions = [0]
// CHECK:         linalg.softmax dimension(1) ins(
func.func @with_a_body(%x: tensor<4x4xf32>, %o: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<4x4xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  %1 = linalg.map { math.exp } ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>)
  %2 = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) permutation = [1, 0]
  %3 = linalg.broadcast ins(%0 : tensor<4xf32>) outs(%x : tensor<4x4xf32>) dimensions = [0]
  %4 = linalg.softmax dimension(1) ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Forms of LLVM 20 and later.

// CHECK-LABEL: func.func @later
// CHECK:         linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(
// CHECK:         linalg.contract indexing_maps = [
// CHECK:         linalg.elementwise kind = #linalg.elementwise_kind<add> ins(
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @later(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul indexing_maps = [#a, #b, #c] ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%x, %1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
