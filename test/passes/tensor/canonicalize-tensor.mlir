// RUN: ingot-opt %s -p 'canonicalize-tensor' --split-input-file | filecheck %s

// Two reshapes that undo each other are nothing.
// CHECK-LABEL: func.func @reshape_chain
// CHECK-NEXT:    func.return %x : tensor<4x6xf32>
func.func @reshape_chain(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 6] : tensor<24xf32> into tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// A reshape of a reshape is one reshape of the source.
// CHECK-LABEL: func.func @reshape_of_reshape
// CHECK-NEXT:    tensor.collapse_shape %x {{.*}} : tensor<2x3x4xf32> into tensor<24xf32>
// CHECK-NEXT:    func.return
func.func @reshape_of_reshape(%x: tensor<2x3x4xf32>) -> tensor<24xf32> {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  return %1 : tensor<24xf32>
}

// -----

// A constant of one value is a fill, and a filled input is a scalar of the body.
// CHECK-LABEL: func.func @splat_input
// CHECK:         %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         linalg.generic {{.*}} ins(%x : tensor<4xf32>)
// CHECK:           arith.mulf %{{.*}}, %[[C]] : f32
func.func @splat_input(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A generic that yields its input unchanged is that input; equal ops of a body are shared.
// CHECK-LABEL: func.func @identity
// CHECK-NEXT:    func.return %x
func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What an elementwise op reads of its output is an input.
// CHECK-LABEL: func.func @reads_its_output
// CHECK:         linalg.generic {{.*}} ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>)
func.func @reads_its_output(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A window that only gives loops their extents stays, as a shape; a sum over nothing is its init.
// CHECK-LABEL: func.func @window_is_a_shape
// CHECK:         %[[W:.*]] = tensor.empty() : tensor<2xf32>
// CHECK:         linalg.generic {{.*}} ins(%x, %[[W]] : tensor<5xf32>, tensor<2xf32>)
func.func @window_is_a_shape(%x: tensor<5xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %w = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<5xf32>, tensor<2xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @sum_over_nothing
// CHECK-NEXT:    func.return %i
func.func @sum_over_nothing(%x: tensor<4x0xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x0xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Constants fold in the type of the op: f16 has no 2049.
// CHECK-LABEL: func.func @fold_in_type
// CHECK:         arith.constant 2.048000e+03 : f16
// CHECK:         linalg.fill
func.func @fold_in_type() -> tensor<f16> {
  %a = arith.constant 2048.0 : f16
  %b = arith.constant 1.0 : f16
  %e = tensor.empty() : tensor<f16>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%e : tensor<f16>) {
  ^bb0(%o: f16):
    %1 = arith.addf %a, %b : f16
    linalg.yield %1 : f16
  } -> tensor<f16>
  return %0 : tensor<f16>
}

// CHECK-LABEL: func.func @scalar_input_is_captured
// CHECK:         linalg.generic {{.*}} ins(%x : tensor<4xf32>)
// CHECK-NEXT:    ^bb0(%a: f32, %out: f32):
// CHECK-NEXT:      arith.addf %a, %s : f32
func.func @scalar_input_is_captured(%x: tensor<4xf32>, %t: tensor<f32>) -> tensor<4xf32> {
  %s = tensor.extract %t[] : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%s, %x : f32, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%v: f32, %a: f32, %out: f32):
    %n = arith.addf %a, %v : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What the extents of the loops decide is folded, and what is extracted at affine positions inside
// a tensor is an input.
// CHECK-LABEL: func.func @bounded_indices
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, {{.*}} ins(%x, %s : tensor<4x8xf32>, tensor<4xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      linalg.yield
func.func @bounded_indices(%x: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %inside = arith.cmpi sge, %i, %zero : index
    %low = arith.maxsi %i, %zero : index
    %at = arith.minsi %low, %three : index
    %v = tensor.extract %s[%at] : tensor<4xf32>
    %w = arith.select %inside, %v, %c : f32
    %1 = arith.mulf %a, %w : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// A comparison that some iteration answers otherwise stays, and so does a read that may be outside.
// CHECK-LABEL: func.func @unbounded_indices
// CHECK:         arith.cmpi
// CHECK:         arith.minsi
// CHECK:         tensor.extract
func.func @unbounded_indices(%s: tensor<3xf32>) -> tensor<4xf32> {
  %two = arith.constant 2 : index
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %inside = arith.cmpi sle, %i, %two : index
    %at = arith.minsi %i, %two : index
    %v = tensor.extract %s[%at] : tensor<3xf32>
    %w = arith.select %inside, %v, %c : f32
    linalg.yield %w : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The position of a maximum that nobody asks for is not computed.
// CHECK-LABEL: func.func @unused_result
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.maximumf
// CHECK-NEXT:      linalg.yield %{{.*}} : f32
func.func @unused_result(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %p: tensor<4xi32>) -> tensor<4xf32> {
  %0, %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%m, %p : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%a: f32, %most: f32, %at: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %2 = arith.maximumf %a, %most : f32
    %3 = arith.cmpf ogt, %a, %most : f32
    %4 = arith.select %3, %j, %at : i32
    linalg.yield %2, %4 : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %0 : tensor<4xf32>
}

// -----

// A reduction that acts only where its loop is where a parallel one is runs over no loop.
// CHECK-LABEL: func.func @selected_iteration
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>{{.*}}], iterator_types = ["parallel"]}
// CHECK:           %[[SUM:.*]] = arith.addf
// CHECK-NEXT:      linalg.yield %[[SUM]]
func.func @selected_iteration(%x: tensor<4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %line = linalg.index 0 : index
    %entry = linalg.index 1 : index
    %same = arith.cmpi eq, %entry, %line : index
    %sum = arith.addf %acc, %a : f32
    %1 = arith.select %same, %sum, %acc : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What is computed from positions that were computed from a number is that number again.
// CHECK-LABEL: func.func @delinearized(
// CHECK-NOT:     arith.muli
// CHECK:         %[[D:.*]] = arith.constant 12 : index
// CHECK-NEXT:    %[[R:.*]] = arith.remui %x, %[[D]] : index
// CHECK:         %[[E:.*]] = arith.constant 12 : index
// CHECK-NEXT:    %[[Q:.*]] = arith.divui %x, %[[E]] : index
// CHECK-NEXT:    return %x, %[[R]], %[[Q]]
func.func @delinearized(%x: index) -> (index, index, index) {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %low = arith.remui %x, %c3 : index
  %high = arith.divui %x, %c3 : index
  %middle = arith.remui %high, %c4 : index
  %rows = arith.muli %high, %c3 : index
  %all = arith.addi %rows, %low : index
  %columns = arith.muli %c3, %middle : index
  %within = arith.addi %low, %columns : index
  %above = arith.divui %high, %c4 : index
  return %all, %within, %above : index, index, index
}

// -----

// 32 * 16 is no number of 8 bits.
// CHECK-LABEL: func.func @delinearized_bytes(
// CHECK:         arith.divui
// CHECK:         arith.muli
// CHECK:         arith.addi
// CHECK:         arith.divui
func.func @delinearized_bytes(%x: i8) -> (i8, i8) {
  %c16 = arith.constant 16 : i8
  %c32 = arith.constant 32 : i8
  %low = arith.remui %x, %c16 : i8
  %high = arith.divui %x, %c16 : i8
  %middle = arith.remui %high, %c32 : i8
  %rows = arith.muli %middle, %c16 : i8
  %within = arith.addi %rows, %low : i8
  %above = arith.divui %high, %c32 : i8
  return %within, %above : i8, i8
}

// -----

// CHECK-LABEL: func.func @dead_reduction(
// CHECK-NEXT:    return %x
func.func @dead_reduction(%x: tensor<4x8xf32>, %i: tensor<4xf32>) -> tensor<4x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %x : tensor<4x8xf32>
}
