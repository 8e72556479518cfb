// Forms of linalg.generic, and arith and math on whole tensors; each function is a test.

func.func @elementwise_tensor(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = arith.addf %a, %b : tensor<5x7xf32>
  %1 = math.exp %0 : tensor<5x7xf32>
  %c = arith.constant dense<2.0> : tensor<5x7xf32>
  %2 = arith.mulf %1, %c : tensor<5x7xf32>
  %3 = arith.cmpf ogt, %2, %a : tensor<5x7xf32>
  %4 = arith.select %3, %2, %b : tensor<5x7xi1>, tensor<5x7xf32>
  return %4 : tensor<5x7xf32>
}
func.func @elementwise_select_scalar(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %p: tensor<i1>) -> tensor<5x7xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  %4 = arith.select %c, %a, %b : tensor<5x7xf32>
  return %4 : tensor<5x7xf32>
}
func.func @elementwise_cast(%a: tensor<7xf32>) -> (tensor<7xi32>, tensor<7xf16>) {
  %0 = arith.fptosi %a : tensor<7xf32> to tensor<7xi32>
  %1 = arith.truncf %a : tensor<7xf32> to tensor<7xf16>
  return %0, %1 : tensor<7xi32>, tensor<7xf16>
}
func.func @elementwise_dense(%a: tensor<3xf32>) -> tensor<3xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = arith.addf %a, %c : tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @elementwise_scalar_rank0(%a: tensor<f32>) -> tensor<f32> {
  %0 = arith.addf %a, %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func @trace(%a: tensor<5x5xf32>, %o: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a : tensor<5x5xf32>) outs(%o : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %n = arith.addf %acc, %x : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @diag(%a: tensor<5x5xf32>) -> tensor<5xf32> {
  %o = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<5x5xf32>) outs(%o : tensor<5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
func.func @reverse(%a: tensor<17xf32>) -> tensor<17xf32> {
  %o = tensor.empty() : tensor<17xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (16 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<17xf32>) outs(%o : tensor<17xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<17xf32>
  return %r : tensor<17xf32>
}
func.func @stride(%a: tensor<3x17xf32>) -> tensor<9xf32> {
  %o = tensor.empty() : tensor<9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (1, d0 * 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<3x17xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}
func.func @floordiv_mod(%a: tensor<6x4xf32>) -> tensor<24xf32> {
  %o = tensor.empty() : tensor<24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<6x4xf32>) outs(%o : tensor<24xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}
func.func @permuted_two_results(%a: tensor<5x7xf32>) -> (tensor<7x5xf32>, tensor<5x7xf32>) {
  %o = tensor.empty() : tensor<7x5xf32>
  %p = tensor.empty() : tensor<5x7xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5x7xf32>) outs(%o, %p : tensor<7x5xf32>, tensor<5x7xf32>) {
  ^bb0(%x: f32, %acc: f32, %q: f32):
    %m = arith.mulf %x, %x : f32
    linalg.yield %x, %m : f32, f32
  } -> (tensor<7x5xf32>, tensor<5x7xf32>)
  return %r#0, %r#1 : tensor<7x5xf32>, tensor<5x7xf32>
}
func.func @two_reductions_different_maps(%a: tensor<5x7xf32>, %o: tensor<5xf32>, %p: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<5x7xf32>) outs(%o, %p : tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%x: f32, %acc: f32, %q: f32):
    %m = arith.addf %x, %acc : f32
    %n = arith.maximumf %x, %q : f32
    linalg.yield %m, %n : f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>)
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xf32>
}
func.func @no_inputs(%o: tensor<4x5xi32>) -> tensor<4x5xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<4x5xi32>) {
  ^bb0(%x: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %t = arith.index_cast %s : index to i32
    %u = arith.addi %t, %x : i32
    linalg.yield %u : i32
  } -> tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}
func.func @rank0(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %o = tensor.empty() : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%a, %b : tensor<f32>, tensor<f32>) outs(%o : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %n = arith.addf %x, %y : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @const_map(%a: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %o = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (2, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x5xf32>) outs(%o : tensor<3x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
func.func @out_const(%a: tensor<5xf32>, %o: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (1, d0)>], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%o : tensor<3x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
func.func @out_strided(%a: tensor<5xf32>, %o: tensor<9xf32>) -> tensor<9xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * 2)>], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}
func.func @reduce_to_diagonal(%a: tensor<5x7xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<5x7xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %i = linalg.index 0 : index
    %c = arith.constant 2 : index
    %p = arith.cmpi slt, %i, %c : index
    %n = scf.if %p -> (f32) {
      %m = arith.addf %acc, %x : f32
      scf.yield %m : f32
    } else {
      %m = arith.mulf %acc, %x : f32
      scf.yield %m : f32
    }
    linalg.yield %n : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @gather(%t: tensor<11x3xf32>, %i: tensor<5xi32>) -> tensor<5x3xf32> {
  %o = tensor.empty() : tensor<5x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<5xi32>) outs(%o : tensor<5x3xf32>) {
  ^bb0(%x: i32, %acc: f32):
    %k = arith.index_cast %x : i32 to index
    %j = linalg.index 1 : index
    %e = tensor.extract %t[%k, %j] : tensor<11x3xf32>
    linalg.yield %e : f32
  } -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}
func.func @unused_result(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %p = tensor.empty() : tensor<5x7xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5x7xf32>) outs(%p, %p : tensor<5x7xf32>, tensor<5x7xf32>) {
  ^bb0(%x: f32, %acc: f32, %q: f32):
    %m = arith.mulf %x, %x : f32
    linalg.yield %x, %m : f32, f32
  } -> (tensor<5x7xf32>, tensor<5x7xf32>)
  return %r#1 : tensor<5x7xf32>
}
func.func @scf_for(%a: tensor<5xf32>) -> tensor<5xf32> {
  %p = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%p : tensor<5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = linalg.index 0 : index
    %n = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (f32) {
      %m = arith.mulf %v, %x : f32
      scf.yield %m : f32
    }
    linalg.yield %n : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
func.func @scf_while(%a: tensor<5xf32>) -> tensor<5xf32> {
  %p = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%p : tensor<5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %t = arith.constant 10.0 : f32
    %two = arith.constant 2.0 : f32
    %n = scf.while (%v = %x) : (f32) -> f32 {
      %c = arith.cmpf olt, %v, %t : f32
      scf.condition(%c) %v : f32
    } do {
    ^bb0(%v: f32):
      %m = arith.mulf %v, %two : f32
      scf.yield %m : f32
    }
    linalg.yield %n : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
func.func @argmax_first_dim(%a: tensor<9x7xf32>) -> (tensor<7xf32>, tensor<7xi64>) {
  %c0 = arith.constant 0 : i64
  %cst = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<7xf32>
  %e1 = tensor.empty() : tensor<7xi64>
  %f0 = linalg.fill ins(%cst : f32) outs(%e0 : tensor<7xf32>) -> tensor<7xf32>
  %f1 = linalg.fill ins(%c0 : i64) outs(%e1 : tensor<7xi64>) -> tensor<7xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<9x7xf32>) outs(%f0, %f1 : tensor<7xf32>, tensor<7xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %i = linalg.index 0 : index
    %i32 = arith.index_cast %i : index to i64
    %more = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %more, %in, %best : f32
    %k = arith.select %more, %i32, %at : i64
    linalg.yield %v, %k : f32, i64
  } -> (tensor<7xf32>, tensor<7xi64>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi64>
}
func.func @captured_scalar(%a: tensor<9x7xf32>, %s: tensor<f32>) -> tensor<9x7xf32> {
  %e0 = tensor.empty() : tensor<9x7xf32>
  %v = tensor.extract %s[] : tensor<f32>
  %w = math.exp %v : f32
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<9x7xf32>) outs(%e0 : tensor<9x7xf32>) {
  ^bb0(%in: f32, %o: f32):
    %x = arith.mulf %in, %w : f32
    linalg.yield %x : f32
  } -> tensor<9x7xf32>
  return %r : tensor<9x7xf32>
}
func.func @sum_dims(%a: tensor<8xf32>) -> tensor<3x6xf32> {
  %e0 = tensor.empty() : tensor<3x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8xf32>) outs(%e0 : tensor<3x6xf32>) {
  ^bb0(%in: f32, %o: f32):
    linalg.yield %in : f32
  } -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}
func.func @custom_reduce(%a: tensor<40x300xf32>, %o: tensor<40xf32>) -> tensor<40xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<40x300xf32>) outs(%o : tensor<40xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %h = arith.constant 0.5 : f32
    %m = arith.mulf %acc, %h : f32
    %n = arith.addf %m, %x : f32
    linalg.yield %n : f32
  } -> tensor<40xf32>
  return %r : tensor<40xf32>
}
func.func @out_reverse(%a: tensor<5xf32>, %o: tensor<9xf32>) -> tensor<9xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * -2 + 8)>], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %n = arith.addf %acc, %x : f32
    linalg.yield %n : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}
func.func @out_diag(%a: tensor<5xf32>, %o: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, d0)>], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%o : tensor<5x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<5x5xf32>
  return %r : tensor<5x5xf32>
}
func.func @out_zero(%a: tensor<7x5xf32>, %o: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<7x5xf32>) outs(%o : tensor<3x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %n = arith.addf %acc, %x : f32
    linalg.yield %n : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

func.func @loop_in_row(%a: tensor<5x300xf32>, %i: tensor<5xf32>) -> (tensor<5xf32>, tensor<5x300xf32>) {
  %p = tensor.empty() : tensor<5x300xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5x300xf32>) outs(%p : tensor<5x300xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = linalg.index 0 : index
    %n = scf.for %k = %c0 to %c3 step %c1 iter_args(%v = %x) -> (f32) {
      %m = arith.mulf %v, %x : f32
      scf.yield %m : f32
    }
    linalg.yield %n : f32
  } -> tensor<5x300xf32>
  %s = linalg.reduce { arith.addf } ins(%r : tensor<5x300xf32>) outs(%i : tensor<5xf32>) dimensions = [1]
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%r, %s : tensor<5x300xf32>, tensor<5xf32>) outs(%p : tensor<5x300xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %m = arith.divf %x, %y : f32
    linalg.yield %m : f32
  } -> tensor<5x300xf32>
  return %s, %q : tensor<5xf32>, tensor<5x300xf32>
}

func.func @while_in_reduction(%a: tensor<5x30xf32>, %i: tensor<30xf32>) -> tensor<30xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<5x30xf32>) outs(%i : tensor<30xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %t = arith.constant 10.0 : f32
    %two = arith.constant 2.0 : f32
    %n = scf.while (%v = %x) : (f32) -> f32 {
      %c = arith.cmpf olt, %v, %t : f32
      scf.condition(%c) %v : f32
    } do {
    ^bb0(%v: f32):
      %m = arith.mulf %v, %two : f32
      scf.yield %m : f32
    }
    %s = arith.addf %acc, %n : f32
    linalg.yield %s : f32
  } -> tensor<30xf32>
  return %r : tensor<30xf32>
}

func.func @gather_in_loop(%t: tensor<9xf32>, %a: tensor<4x9xi32>) -> tensor<4xf32> {
  %p = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%p : tensor<4xf32>) {
  ^bb0(%acc: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %z = arith.constant 0.0 : f32
    %d = linalg.index 0 : index
    %n = scf.for %k = %c0 to %c9 step %c1 iter_args(%v = %z) -> (f32) {
      %j = tensor.extract %a[%d, %k] : tensor<4x9xi32>
      %l = arith.index_cast %j : i32 to index
      %e = tensor.extract %t[%l] : tensor<9xf32>
      %m = arith.addf %v, %e : f32
      scf.yield %m : f32
    }
    linalg.yield %n : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
