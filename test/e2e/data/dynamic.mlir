// Programs whose sizes a call decides, one function each; `test_dynamic_programs.py` calls them.

func.func @for_carry(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %x) -> (tensor<?x4xf32>) {
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %a = linalg.add ins(%h, %y : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)
      -> tensor<?x4xf32>
    scf.yield %a : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

func.func @for_rows(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %z) -> (tensor<4xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %a = linalg.add ins(%h, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @for_insert_rows(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = scf.for %i = %c0 to %n step %c2 iter_args(%h = %z) -> (tensor<?x4xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %e1 = tensor.empty() : tensor<1x4xf32>
    %a = linalg.exp ins(%s : tensor<1x4xf32>) outs(%e1 : tensor<1x4xf32>) -> tensor<1x4xf32>
    %q = tensor.insert_slice %a into %h[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    scf.yield %q : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

func.func @while_dyn(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %lim = arith.constant 100.0 : f32
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r:2 = scf.while (%h = %x, %k = %i0) : (tensor<?xf32>, i32) -> (tensor<?xf32>, i32) {
    %e = tensor.empty() : tensor<f32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%h : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
    %v = tensor.extract %s[] : tensor<f32>
    %c = arith.cmpf olt, %v, %lim : f32
    scf.condition(%c) %h, %k : tensor<?xf32>, i32
  } do {
  ^bb0(%h: tensor<?xf32>, %k: i32):
    %e = tensor.empty(%n) : tensor<?xf32>
    %a = linalg.add ins(%h, %h : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %k1 = arith.addi %k, %i1 : i32
    scf.yield %a, %k1 : tensor<?xf32>, i32
  }
  %t = tensor.from_elements %r#1 : tensor<i32>
  return %r#0, %t : tensor<?xf32>, tensor<i32>
}

func.func @if_dyn(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %c = tensor.extract %p[] : tensor<i1>
  %r = scf.if %c -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

func.func @if_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %c = arith.cmpi sgt, %n, %c4 : index
  %r = scf.if %c -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

func.func @stride_computed(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %s = arith.divui %n, %c3 : index
  %r = tensor.extract_slice %x[1] [%c2] [%s] : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @stride_insert(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<?xf32> {
  %r = tensor.insert_slice %y into %x[1] [4] [2] : tensor<4xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @stride_insert_dyn(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %y, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %r = tensor.insert_slice %y into %x[%c1, 0] [%m, %n] [%c2, 3] : tensor<?x?xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @body_if(%x: tensor<?xf32>, %p: tensor<?xi1>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %p : tensor<?xf32>, tensor<?xi1>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: i1, %o: f32):
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

func.func @body_for_extract(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %v = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %q = arith.addf %s, %v : f32
      scf.yield %q : f32
    }
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @body_while(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %m = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%m) : tensor<?xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%a: i32, %o: i32):
    %t:2 = scf.while (%v = %a, %k = %i0) : (i32, i32) -> (i32, i32) {
      %c = arith.cmpi sgt, %v, %i0 : i32
      scf.condition(%c) %v, %k : i32, i32
    } do {
    ^bb0(%v: i32, %k: i32):
      %v1 = arith.shrsi %v, %i1 : i32
      %k1 = arith.addi %k, %i1 : i32
      scf.yield %v1, %k1 : i32, i32
    }
    linalg.yield %t#1 : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

func.func @pack_dyn(%x: tensor<?x?xf32>) -> tensor<?x?x8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %a = affine.apply affine_map<()[s0] -> (s0 ceildiv 8)>()[%m]
  %b = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%n]
  %e = tensor.empty(%a, %b) : tensor<?x?x8x4xf32>
  %r = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e
      : tensor<?x?xf32> -> tensor<?x?x8x4xf32>
  return %r : tensor<?x?x8x4xf32>
}

func.func @expand_two(%x: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %y, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %v = tensor.expand_shape %x [[0, 1]] output_shape [%m, %n] : tensor<?xf32> into tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.add ins(%v, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @reshape_op(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %t = arith.muli %m, %n : index
  %s = tensor.from_elements %t : tensor<1xindex>
  %r = tensor.reshape %x(%s) : (tensor<?x?xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @reshape_i64(%x: tensor<?x6xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %m = tensor.dim %x, %c0 : tensor<?x6xf32>
  %mi = arith.index_cast %m : index to i64
  %t = arith.muli %mi, %c2 : i64
  %s = tensor.from_elements %t, %c3 : tensor<2xi64>
  %r = tensor.reshape %x(%s) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @pad_computed(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @generate(%x: tensor<?xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    %s = arith.addf %v, %f : f32
    tensor.yield %s : f32
  } : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @splat_insert_extract(%x: tensor<?xf32>, %i: tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %iv = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %iv : i32 to index
  %v = tensor.extract %x[%k] : tensor<?xf32>
  %s = tensor.splat %v[%n] : tensor<?xf32>
  %two = arith.constant 2.0 : f32
  %q = tensor.insert %two into %x[%k] : tensor<?xf32>
  return %s, %q : tensor<?xf32>, tensor<?xf32>
}

func.func @reversed_map(%x: tensor<8xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (7 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @mod_map(%x: tensor<8xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 4)>, affine_map<(i) -> (i mod 8)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y, %x : tensor<?xf32>, tensor<8xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%b: f32, %a: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @conv_dyn_hw(%x: tensor<1x3x?x?xf32>, %k: tensor<4x3x3x3xf32>, %bias: tensor<4xf32>) -> tensor<1x4x?x?xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x3x?x?xf32> to tensor<1x3x?x?xf32>
  %h0 = tensor.dim %x, %c2 : tensor<1x3x?x?xf32>
  %w0 = tensor.dim %x, %c3 : tensor<1x3x?x?xf32>
  %h1 = arith.subi %h0, %c1 : index
  %h2 = arith.floordivsi %h1, %c2 : index
  %h = arith.addi %h2, %c1 : index
  %w1 = arith.subi %w0, %c1 : index
  %w2 = arith.floordivsi %w1, %c2 : index
  %w = arith.addi %w2, %c1 : index
  %e = tensor.empty(%h, %w) : tensor<1x4x?x?xf32>
  %bb = linalg.broadcast ins(%bias : tensor<4xf32>) outs(%e : tensor<1x4x?x?xf32>) dimensions = [0, 2, 3]
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2>
      : vector<2xi64>} ins(%p, %k : tensor<1x3x?x?xf32>, tensor<4x3x3x3xf32>) outs(%bb
      : tensor<1x4x?x?xf32>) -> tensor<1x4x?x?xf32>
  return %r : tensor<1x4x?x?xf32>
}

func.func private @exp_of(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @two_functions(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = func.call @exp_of(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %b = func.call @exp_of(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return %b : tensor<?xf32>
}

func.func @argmax_dyn(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %low = arith.constant 0xFF800000 : f32
  %i0 = arith.constant 0 : i64
  %ef = tensor.empty(%n) : tensor<?xf32>
  %ei = tensor.empty(%n) : tensor<?xi64>
  %lf = linalg.fill ins(%low : f32) outs(%ef : tensor<?xf32>) -> tensor<?xf32>
  %li = linalg.fill ins(%i0 : i64) outs(%ei : tensor<?xi64>) -> tensor<?xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%lf, %li : tensor<?xf32>, tensor<?xi64>) {
  ^bb0(%a: f32, %m: f32, %k: i64):
    %j = linalg.index 1 : index
    %ji = arith.index_cast %j : index to i64
    %nm = arith.maximumf %a, %m : f32
    %gt = arith.cmpf ogt, %a, %m : f32
    %nk = arith.select %gt, %ji, %k : i64
    linalg.yield %nm, %nk : f32, i64
  } -> (tensor<?xf32>, tensor<?xi64>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi64>
}

func.func @iota_index(%x: tensor<?xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<?xindex>) {
  ^bb0(%o: index):
    %j = linalg.index 0 : index
    linalg.yield %j : index
  } -> tensor<?xindex>
  %e2 = tensor.empty(%n) : tensor<?xi64>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%r : tensor<?xindex>) outs(%e2 : tensor<?xi64>) {
  ^bb0(%a: index, %o: i64):
    %j = arith.index_cast %a : index to i64
    linalg.yield %j : i64
  } -> tensor<?xi64>
  return %q : tensor<?xi64>
}

func.func @scan_dyn(%x: tensor<?xf32>, %acc: tensor<f32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %o, %a = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<?xf32>) outs(%e, %acc
      : tensor<?xf32>, tensor<f32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    tm_tensor.yield %s : f32
  } -> tensor<?xf32>, tensor<f32>
  return %o : tensor<?xf32>
}

func.func @sort_dyn(%x: tensor<?xf32>) -> tensor<?xf32> {
  %o = tm_tensor.sort dimension(0) outs(%x : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.cmpf olt, %p, %q : f32
    tm_tensor.yield %s : i1
  } -> tensor<?xf32>
  return %o : tensor<?xf32>
}

func.func @scatter_dyn(%u: tensor<?xf32>, %i: tensor<?x1xi32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i
      : tensor<?xf32>, tensor<?x1xi32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    tm_tensor.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @collapse_dyn(%x: tensor<?x?x3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>) {
  %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x3xf32> into tensor<?x3xf32>
  %b = tensor.collapse_shape %x [[0, 1, 2]] : tensor<?x?x3xf32> into tensor<?xf32>
  return %a, %b : tensor<?x3xf32>, tensor<?xf32>
}

func.func @cast_refine(%x: tensor<?x?xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %a = tensor.cast %x : tensor<?x?xf32> to tensor<?x4xf32>
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.exp ins(%a : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

func.func @neg_dim_select(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m1 = arith.constant -1 : i64
  %z = arith.constant 0 : i64
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %ni = arith.index_cast %n : index to i64
  %a = arith.addi %m1, %ni : i64
  %lt = arith.cmpi slt, %m1, %z : i64
  %s = arith.select %lt, %a, %m1 : i64
  %lt0 = arith.cmpi slt, %s, %z : i64
  %s0 = arith.select %lt0, %z, %s : i64
  %gt = arith.cmpi sgt, %s0, %ni : i64
  %s1 = arith.select %gt, %ni, %s0 : i64
  %off = arith.index_cast %s1 : i64 to index
  %sz = arith.subi %n, %off : index
  %r = tensor.extract_slice %x[%off, 0] [%sz, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

func.func @cf_br(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  cf.cond_br %c, ^a, ^b(%x : tensor<?xf32>)
^a:
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  cf.br ^b(%y : tensor<?xf32>)
^b(%r: tensor<?xf32>):
  return %r : tensor<?xf32>
}

func.func @nested_for(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%h = %e) -> (tensor<?x?xf32>) {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%g = %h) -> (tensor<?x?xf32>) {
      %v = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %s = arith.addf %v, %v : f32
      %k = tensor.insert %s into %g[%i, %j] : tensor<?x?xf32>
      scf.yield %k : tensor<?x?xf32>
    }
    scf.yield %q : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

func.func @rank_bitcast(%x: tensor<?xf32>) -> tensor<?xi32> {
  %b = tensor.bitcast %x : tensor<?xf32> to tensor<?xi32>
  return %b : tensor<?xi32>
}

func.func @while_growing_i(%x: tensor<?x4xf32>, %n: tensor<i32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %lim = tensor.extract %n[] : tensor<i32>
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %r:2 = scf.while (%h = %x, %k = %i0) : (tensor<?x4xf32>, i32) -> (tensor<?x4xf32>, i32) {
    %c = arith.cmpi slt, %k, %lim : i32
    scf.condition(%c) %h, %k : tensor<?x4xf32>, i32
  } do {
  ^bb0(%h: tensor<?x4xf32>, %k: i32):
    %m2 = tensor.dim %h, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%m2) : tensor<?x4xf32>
    %mi = arith.index_cast %m2 : index to i32
    %mf = arith.sitofp %mi : i32 to f32
    %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %q = arith.addf %p, %mf : f32
      linalg.yield %q : f32
    } -> tensor<?x4xf32>
    %k1 = arith.addi %k, %i1 : i32
    scf.yield %a, %k1 : tensor<?x4xf32>, i32
  }
  return %r#0 : tensor<?x4xf32>
}

func.func @sort_2d_pairs(%x: tensor<?x?xf32>, %i: tensor<?x?xi32>) -> (tensor<?x?xf32>, tensor<?x?xi32>) {
  %o:2 = tm_tensor.sort dimension(0) outs(%x, %i : tensor<?x?xf32>, tensor<?x?xi32>) {
  ^bb0(%p: f32, %q: f32, %pi: i32, %qi: i32):
    %s = arith.cmpf ogt, %p, %q : f32
    tm_tensor.yield %s : i1
  } -> tensor<?x?xf32>, tensor<?x?xi32>
  return %o#0, %o#1 : tensor<?x?xf32>, tensor<?x?xi32>
}

func.func @topk_dyn(%x: tensor<3x?xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %ei = tensor.empty() : tensor<3x4xi64>
  %o:2 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<3x?xf32>) outs(%e, %ei
      : tensor<3x4xf32>, tensor<3x4xi64>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.cmpf ogt, %p, %q : f32
    iree_linalg_ext.yield %s : i1
  } -> tensor<3x4xf32>, tensor<3x4xi64>
  return %o#0, %o#1 : tensor<3x4xf32>, tensor<3x4xi64>
}

func.func @scan_excl_2d(%x: tensor<?x?xi32>, %acc: tensor<?xi32>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xi32>
  %n = tensor.dim %x, %c1 : tensor<?x?xi32>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %o, %a = tm_tensor.scan dimension(1) inclusive(false) ins(%x : tensor<?x?xi32>) outs(%e, %acc
      : tensor<?x?xi32>, tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    tm_tensor.yield %s : i32
  } -> tensor<?x?xi32>, tensor<?xi32>
  return %o : tensor<?x?xi32>
}

func.func @unpack_dyn(%x: tensor<?x?x8x4xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %y, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e : tensor<?x?x8x4xf32>
      -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @gather_dyn(%x: tensor<?x?xf32>, %i: tensor<?x1xi64>) -> tensor<?x?xf32> {
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<?x?xf32>, tensor<?x1xi64>) -> tensor<?x?xf32>
  return %g : tensor<?x?xf32>
}

func.func @reshape_static(%x: tensor<?x?xf32>) -> (tensor<2x3xf32>, tensor<1x?xf32>) {
  %s = arith.constant dense<[2, 3]> : tensor<2xi64>
  %r = tensor.reshape %x(%s) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %t = tensor.from_elements %c1, %c6 : tensor<2xindex>
  %q = tensor.reshape %x(%t) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<1x?xf32>
  return %r, %q : tensor<2x3xf32>, tensor<1x?xf32>
}
