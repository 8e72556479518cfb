// Sorts and scatters: stable, in the order of the entries.

func.func @sort7(%x: tensor<7xf32>) -> tensor<7xf32> {
  %s = ingot.sort dimension = 0 ins(%x : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    ingot.yield %before : i1
  }
  return %s : tensor<7xf32>
}

func.func @sort2d(%x: tensor<3x37x2xi32>, %v: tensor<3x37x2xf32>) -> (tensor<3x37x2xi32>, tensor<3x37x2xf32>) {
  %s, %t = ingot.sort dimension = 1 ins(%x, %v : tensor<3x37x2xi32>, tensor<3x37x2xf32>) {
  ^bb0(%a: i32, %b: i32, %c: f32, %d: f32):
    %before = arith.cmpi sgt, %a, %b : i32
    ingot.yield %before : i1
  }
  return %s, %t : tensor<3x37x2xi32>, tensor<3x37x2xf32>
}

func.func @sort1000(%x: tensor<1000xi32>, %v: tensor<1000xf32>) -> (tensor<1000xi32>, tensor<1000xf32>) {
  %s, %t = ingot.sort dimension = 0 ins(%x, %v : tensor<1000xi32>, tensor<1000xf32>) {
  ^bb0(%a: i32, %b: i32, %c: f32, %d: f32):
    %before = arith.cmpi slt, %a, %b : i32
    ingot.yield %before : i1
  }
  return %s, %t : tensor<1000xi32>, tensor<1000xf32>
}

func.func @sort1(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %s = ingot.sort dimension = 1 ins(%x : tensor<4x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    ingot.yield %before : i1
  }
  return %s : tensor<4x1xf32>
}

func.func @scatter_few(%t: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %r = ingot.scatter dimensions = [0] ins(%i, %u : tensor<4x1xi32>, tensor<4x3xf32>)
      outs(%t : tensor<5x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    %twice = arith.addf %old, %old : f32
    %new = arith.addf %twice, %update : f32
    ingot.yield %new : f32
  }
  return %r : tensor<5x3xf32>
}

func.func @scatter_many(%t: tensor<50x30xf32>, %i: tensor<10x15x1xi64>, %u: tensor<10x15x30xf32>) -> tensor<50x30xf32> {
  %r = ingot.scatter dimensions = [0] ins(%i, %u : tensor<10x15x1xi64>, tensor<10x15x30xf32>)
      outs(%t : tensor<50x30xf32>) {
  ^bb0(%old: f32, %update: f32):
    %h = arith.constant 0.5 : f32
    %twice = arith.mulf %old, %h : f32
    %new = arith.addf %twice, %update : f32
    ingot.yield %new : f32
  }
  return %r : tensor<50x30xf32>
}

func.func @scatter_two(%t: tensor<9x30x9xf32>, %s: tensor<9x30x9xi32>, %i: tensor<150x2xi32>, %u: tensor<150x30xf32>, %v: tensor<150x30xi32>) -> (tensor<9x30x9xf32>, tensor<9x30x9xi32>) {
  %r, %q = ingot.scatter dimensions = [2, 0] ins(%i, %u, %v : tensor<150x2xi32>, tensor<150x30xf32>, tensor<150x30xi32>)
      outs(%t, %s : tensor<9x30x9xf32>, tensor<9x30x9xi32>) {
  ^bb0(%old: f32, %o2: i32, %update: f32, %u2: i32):
    %c = arith.cmpf ogt, %update, %old : f32
    %m = arith.select %c, %update, %old : f32
    %n = arith.select %c, %u2, %o2 : i32
    ingot.yield %m, %n : f32, i32
  }
  return %r, %q : tensor<9x30x9xf32>, tensor<9x30x9xi32>
}

func.func @tensor_scatter(%a: tensor<4x5x6xf32>, %u: tensor<3x5xf32>) -> tensor<4x5x6xf32> {
  %i = arith.constant dense<[[0, 1], [3, 5], [2, 2]]> : tensor<3x2xi32>
  %e = tensor.expand_shape %u [[0], [1, 2, 3]] output_shape [3, 1, 5, 1] : tensor<3x5xf32> into tensor<3x1x5x1xf32>
  %r = tensor.scatter %e into %a[%i] scatter_dims([0, 2]) unique : (tensor<3x1x5x1xf32>, tensor<4x5x6xf32>, tensor<3x2xi32>) -> tensor<4x5x6xf32>
  return %r : tensor<4x5x6xf32>
}
func.func @iree_sort(%a: tensor<33x5xi32>, %b: tensor<33x5xf32>) -> (tensor<33x5xi32>, tensor<33x5xf32>) {
  %0:2 = iree_linalg_ext.sort dimension(0) outs(%a, %b : tensor<33x5xi32>, tensor<33x5xf32>) {
  ^bb0(%x: i32, %y: i32, %u: f32, %v: f32):
    %1 = arith.cmpi sgt, %x, %y : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<33x5xi32>, tensor<33x5xf32>
  return %0#0, %0#1 : tensor<33x5xi32>, tensor<33x5xf32>
}

func.func @iree_scatter(%o: tensor<9x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) -> tensor<9x4xf32> {
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%u, %i : tensor<5x4xf32>, tensor<5x1xi32>) outs(%o : tensor<9x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.subf %x, %y : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

func.func @iree_scatter_without_depth(%o: tensor<9x4xf32>, %i: tensor<5xi32>, %u: tensor<5x4xf32>) -> tensor<9x4xf32> {
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %i : tensor<5x4xf32>, tensor<5xi32>) outs(%o : tensor<9x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    iree_linalg_ext.yield %x : f32
  } -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

func.func @iree_topk(%v: tensor<3x37xf32>, %i: tensor<3x37xi32>) -> (tensor<3x5xf32>, tensor<3x5xi32>) {
  %a = tensor.empty() : tensor<3x5xf32>
  %b = tensor.empty() : tensor<3x5xi32>
  %0:2 = iree_linalg_ext.topk dimension(1) ins(%v, %i : tensor<3x37xf32>, tensor<3x37xi32>) outs(%a, %b : tensor<3x5xf32>, tensor<3x5xi32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.cmpf ogt, %x, %y : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<3x5xf32>, tensor<3x5xi32>
  return %0#0, %0#1 : tensor<3x5xf32>, tensor<3x5xi32>
}

func.func @tm_topk(%v: tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
  %a = tensor.empty() : tensor<3x2xf32>
  %b = tensor.empty() : tensor<3x2xi64>
  %0:2 = tm_tensor.topk dimension(1) ins(%v : tensor<3x7xf32>) outs(%a, %b : tensor<3x2xf32>, tensor<3x2xi64>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.cmpf ogt, %x, %y : f32
    tm_tensor.yield %1 : i1
  } -> tensor<3x2xf32>, tensor<3x2xi64>
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi64>
}

func.func @tm_scatter(%o: tensor<8xi32>, %i: tensor<3x1xi32>, %u: tensor<3xi32>) -> tensor<8xi32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i : tensor<3xi32>, tensor<3x1xi32>) outs(%o : tensor<8xi32>) {
  ^bb0(%update: i32, %orig: i32):
    %1 = arith.addi %orig, %update : i32
    tm_tensor.yield %1 : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

func.func @tm_sort(%a: tensor<13xf32>) -> tensor<13xf32> {
  %0 = tm_tensor.sort dimension(0) outs(%a : tensor<13xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.cmpf ole, %x, %y : f32
    tm_tensor.yield %1 : i1
  } -> tensor<13xf32>
  return %0 : tensor<13xf32>
}

func.func @inclusive_scan_from_a_value(%x: tensor<4x8xf32>, %i: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : tensor<4x8xf32>) outs(%e, %i : tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<4x8xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4xf32>
}

func.func @exclusive_scan(%x: tensor<8x4xi32>, %i: tensor<4xi32>) -> (tensor<8x4xi32>, tensor<4xi32>) {
  %e = tensor.empty() : tensor<8x4xi32>
  %0:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%x : tensor<8x4xi32>) outs(%e, %i : tensor<8x4xi32>, tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.muli %a, %b : i32
    tm_tensor.yield %1 : i32
  } -> tensor<8x4xi32>, tensor<4xi32>
  return %0#0, %0#1 : tensor<8x4xi32>, tensor<4xi32>
}

func.func @exclusive_scan_alone(%x: tensor<8x4xi32>, %i: tensor<4xi32>) -> tensor<8x4xi32> {
  %e = tensor.empty() : tensor<8x4xi32>
  %0:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%x : tensor<8x4xi32>) outs(%e, %i : tensor<8x4xi32>, tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.subi %a, %b : i32
    tm_tensor.yield %1 : i32
  } -> tensor<8x4xi32>, tensor<4xi32>
  return %0#0 : tensor<8x4xi32>
}

func.func @scan_of_any_body(%x: tensor<3x40xf32>, %i: tensor<3xf32>) -> (tensor<3x40xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3x40xf32>
  %0:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<3x40xf32>) outs(%e, %i : tensor<3x40xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.5 : f32
    %2 = arith.mulf %a, %h : f32
    %1 = arith.addf %2, %b : f32
    tm_tensor.yield %1 : f32
  } -> tensor<3x40xf32>, tensor<3xf32>
  return %0#0, %0#1 : tensor<3x40xf32>, tensor<3xf32>
}
