// RUN: ingot-opt %s -p 'convert-tm-tensor' | filecheck %s

// The accumulator's contents do not count: a neutral element takes their place.
// CHECK-LABEL: func.func @cumsum
// CHECK:         [[Z:%.*]] = arith.constant -0.000000e+00 : f32
// CHECK:         [[I:%.*]] = linalg.fill ins([[Z]] : f32)
// CHECK:         ingot.scan inclusive dimension = 1 ins(%x : tensor<4x8xf32>) outs(%e, [[I]] : tensor<4x8xf32>, tensor<4xf32>)
// CHECK:           ingot.yield
func.func @cumsum(%x: tensor<4x8xf32>, %i: tensor<4xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x8xf32>) outs(%e, %i : tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tm_tensor.yield %1 : f32
  } -> tensor<4x8xf32>, tensor<4xf32>
  return %0#0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @any_body
// CHECK:         tensor.extract_slice %x[0] [1] [1]
// CHECK:         tensor.extract_slice %x[1] [7] [1]
// CHECK:         ingot.scan inclusive dimension = 0
// CHECK:         tensor.concat dim(0)
func.func @any_body(%x: tensor<8xf32>, %i: tensor<f32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<8xf32>) outs(%e, %i : tensor<8xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %b : f32
    iree_linalg_ext.yield %2 : f32
  } -> tensor<8xf32>, tensor<f32>
  return %0#0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @sort
// CHECK:         ingot.sort dimension = 0 ins(%x : tensor<8xi32>) {
// CHECK:           ingot.yield {{%.*}} : i1
func.func @sort(%x: tensor<8xi32>) -> tensor<8xi32> {
  %0 = iree_linalg_ext.sort dimension(0) outs(%x : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi sgt, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// CHECK-LABEL: func.func @topk
// CHECK:         [[S:%.*]], [[I:%.*]] = ingot.sort dimension = 1 ins(%v, %i : tensor<3x9xf32>, tensor<3x9xi32>)
// CHECK:         tensor.extract_slice [[S]][0, 0] [3, 2] [1, 1]
// CHECK:         tensor.extract_slice [[I]][0, 0] [3, 2] [1, 1]
func.func @topk(%v: tensor<3x9xf32>, %i: tensor<3x9xi32>, %a: tensor<3x2xf32>, %b: tensor<3x2xi32>) -> tensor<3x2xi32> {
  %0:2 = iree_linalg_ext.topk dimension(1) ins(%v, %i : tensor<3x9xf32>, tensor<3x9xi32>) outs(%a, %b : tensor<3x2xf32>, tensor<3x2xi32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.cmpf ogt, %x, %y : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<3x2xf32>, tensor<3x2xi32>
  return %0#1 : tensor<3x2xi32>
}

// The update is the first argument there, the second one here.
// CHECK-LABEL: func.func @scatter
// CHECK:         ingot.scatter unique dimensions = [0] ins(%i, %u : tensor<3x1xi32>, tensor<3xi32>) outs(%o : tensor<8xi32>) {
// CHECK-NEXT:    ^bb0([[OLD:%.*]]: i32, [[NEW:%.*]]: i32):
// CHECK-NEXT:      arith.subi [[NEW]], [[OLD]] : i32
func.func @scatter(%o: tensor<8xi32>, %i: tensor<3x1xi32>, %u: tensor<3xi32>) -> tensor<8xi32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%u, %i : tensor<3xi32>, tensor<3x1xi32>) outs(%o : tensor<8xi32>) {
  ^bb0(%update: i32, %old: i32):
    %1 = arith.subi %update, %old : i32
    tm_tensor.yield %1 : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// Products of queries and keys, the softmax of each row, products with the values. A row that sees no
// key has a maximum of the lowest finite number, a sum of 0, and weights of 0.
// CHECK-LABEL: func.func @attention
// CHECK:         [[S:%.*]] = linalg.generic {{.*}} ins(%q, %k
// CHECK:         [[M:%.*]] = linalg.generic {{.*}} ins([[S]], %m
// CHECK:           arith.divf
// CHECK:           arith.select
// CHECK:           arith.addf
// CHECK:         arith.constant -3.40282347e+38
// CHECK:           arith.maximumf
// CHECK:           math.exp
// CHECK:           arith.cmpf oeq
// CHECK:         linalg.generic {{.*}} ins({{%.*}}, %v
func.func @attention(%q: tensor<2x4x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x3xf32>, %m: tensor<2x4x5xi1>, %o: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = tm_tensor.attention ins(%q, %k, %v, %m : tensor<2x4x8xf32>, tensor<2x5x8xf32>, tensor<2x5x3xf32>, tensor<2x4x5xi1>) outs(%o : tensor<2x4x3xf32>) {
  } -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
