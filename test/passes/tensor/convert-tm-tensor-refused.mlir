// RUN: ingot-opt %s -p 'convert-tm-tensor' --split-input-file --verify-diagnostics

func.func @attention_shape(%q: tensor<2x4x8xf32>, %o: tensor<2x4x9xf32>) -> tensor<2x4x9xf32> {
  // expected-error@+1 {{tm_tensor.attention needs queries of B x M x D, keys of B x N x D}}
  %0 = tm_tensor.attention ins(%q, %q, %q : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) outs(%o : tensor<2x4x9xf32>) {
  } -> tensor<2x4x9xf32>
  return %0 : tensor<2x4x9xf32>
}

// -----

func.func @attention_operands(%q: tensor<2x4x8xf32>, %o: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error@+1 {{tm_tensor.attention needs queries, keys, values, maybe a mask, and one output}}
  %0 = tm_tensor.attention ins(%q, %q : tensor<2x4x8xf32>, tensor<2x4x8xf32>) outs(%o : tensor<2x4x8xf32>) {
  } -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// -----

func.func @attention_type(%q: tensor<2x4x8xi32>, %o: tensor<2x4x8xi32>) -> tensor<2x4x8xi32> {
  // expected-error@+1 {{tm_tensor.attention needs tensors of one type of float}}
  %0 = tm_tensor.attention ins(%q, %q, %q : tensor<2x4x8xi32>, tensor<2x4x8xi32>, tensor<2x4x8xi32>) outs(%o : tensor<2x4x8xi32>) {
  } -> tensor<2x4x8xi32>
  return %0 : tensor<2x4x8xi32>
}

// -----

func.func @attention_mask(%q: tensor<2x4x8xf32>, %m: tensor<2x4x4xi8>, %o: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // expected-error@+1 {{tm_tensor.attention with a mask of i8 is not supported}}
  %0 = tm_tensor.attention ins(%q, %q, %q, %m : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x4xi8>) outs(%o : tensor<2x4x8xf32>) {
  } -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// -----

func.func @no_such_dimension(%x: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error@+1 {{tm_tensor.sort along dimension 1 of a tensor<8xi32>}}
  %0 = tm_tensor.sort dimension(1) outs(%x : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi sgt, %a, %b : i32
    tm_tensor.yield %1 : i1
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @no_dimension(%x: tensor<8x8xi32>) -> tensor<8x8xi32> {
  // expected-error@+1 {{tm_tensor.sort needs the attribute dimension}}
  %0 = tm_tensor.sort outs(%x : tensor<8x8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi sgt, %a, %b : i32
    tm_tensor.yield %1 : i1
  } -> tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}

// -----

func.func @wrong_body(%x: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error@+1 {{tm_tensor.sort needs a body that takes (i32, i32) and yields a i1}}
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    tm_tensor.yield %a : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @sort_of_an_input(%x: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error@+1 {{tm_tensor.sort needs outputs of one shape, and no inputs}}
  %0 = tm_tensor.sort dimension(0) ins(%x : tensor<8xi32>) outs(%x : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi sgt, %a, %b : i32
    tm_tensor.yield %1 : i1
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @scan_without_accumulator(%x: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error@+1 {{tm_tensor.scan needs one input, and an output and an accumulator}}
  %0 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<8xi32>) outs(%x : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    tm_tensor.yield %a : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @scan_into_another_type(%x: tensor<8xi32>, %e: tensor<8xi64>, %i: tensor<i64>) -> tensor<8xi64> {
  // expected-error@+1 {{tm_tensor.scan needs an output and an accumulator that fit its input}}
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<8xi32>) outs(%e, %i : tensor<8xi64>, tensor<i64>) {
  ^bb0(%a: i64, %b: i64):
    tm_tensor.yield %a : i64
  } -> tensor<8xi64>, tensor<i64>
  return %0#0 : tensor<8xi64>
}

// -----

func.func @too_many(%v: tensor<3xf32>, %a: tensor<4xf32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{iree_linalg_ext.topk needs outputs of the shape of its input, shorter along dimension 0}}
  %0:2 = iree_linalg_ext.topk dimension(0) ins(%v : tensor<3xf32>) outs(%a, %b : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.cmpf ogt, %x, %y : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<4xf32>, tensor<4xi32>
  return %0#1 : tensor<4xi32>
}

// -----

func.func @indices_of_another_type(%v: tensor<4xf32>, %i: tensor<4xi64>, %a: tensor<4xf32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{iree_linalg_ext.topk needs outputs of the types of its values and indices}}
  %0:2 = iree_linalg_ext.topk dimension(0) ins(%v, %i : tensor<4xf32>, tensor<4xi64>) outs(%a, %b : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.cmpf ogt, %x, %y : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<4xf32>, tensor<4xi32>
  return %0#1 : tensor<4xi32>
}

// -----

func.func @topk_without_values(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{iree_linalg_ext.topk needs values, maybe indices, and an output for each}}
  %0 = iree_linalg_ext.topk dimension(0) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.cmpf ogt, %x, %y : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @part_of_a_window(%o: tensor<8x4xi32>, %i: tensor<3x1xi32>, %u: tensor<3x2xi32>) -> tensor<8x4xi32> {
  // expected-error@+1 {{tm_tensor.scatter needs updates of the shape of the indices, then the dimensions of the output that no index names}}
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%u, %i : tensor<3x2xi32>, tensor<3x1xi32>) outs(%o : tensor<8x4xi32>) {
  ^bb0(%update: i32, %old: i32):
    tm_tensor.yield %update : i32
  } -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}

// -----

func.func @two_updates(%o: tensor<8xi32>, %u: tensor<3xi32>) -> tensor<8xi32> {
  // expected-error@+1 {{tm_tensor.scatter needs updates, indices and one output}}
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%u : tensor<3xi32>) outs(%o : tensor<8xi32>) {
  ^bb0(%update: i32, %old: i32):
    tm_tensor.yield %update : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @open_scan(%x: tensor<?xf32>, %e: tensor<?xf32>, %i: tensor<f32>) -> tensor<?xf32> {
  // expected-error@+1 {{tm_tensor.scan of dynamic shape with such a body is not supported}}
  %o, %l = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<?xf32>) outs(%e, %i : tensor<?xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.subf %a, %b : f32
    tm_tensor.yield %1 : f32
  } -> tensor<?xf32>, tensor<f32>
  return %o : tensor<?xf32>
}
