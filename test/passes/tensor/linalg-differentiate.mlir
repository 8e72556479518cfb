// RUN: ingot-opt %s -p 'linalg-differentiate{function=elementwise},linalg-differentiate{function=product wrt="b" with-value=true},linalg-differentiate{function=nograd},linalg-differentiate{function=round},linalg-differentiate{function=along wrt="x" forward=true},canonicalize-tensor,cse,dce' | filecheck %s

#id = affine_map<(d0) -> (d0)>

// The cotangent of the result follows the arguments; tanh reads the result that was stored.
// CHECK-LABEL: func.func @elementwise(%x: tensor<4xf32>, %d_y: tensor<4xf32>) -> tensor<4xf32>
// CHECK:         %y = linalg.generic
// CHECK:         %d_x = linalg.generic {{.*}} ins(%d_y, %y : tensor<4xf32>, tensor<4xf32>)
// CHECK:           arith.subf
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.mulf
// CHECK:         return %d_x
func.func @elementwise(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.tanh %in : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A matrix product's gradient is a matrix product.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    -> (tensor<3x5xf32>, tensor<4x5xf32>)
// CHECK:         %d_b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %d_c
// CHECK:         return %c, %d_b
func.func @product(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%f : tensor<3x5xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  return %c : tensor<3x5xf32>
}

// Without names, arguments that are integers or marked are left out.
// CHECK-LABEL: func.func @nograd
// CHECK-SAME:    -> tensor<4xf32>
// CHECK:         return %d_x
func.func @nograd(%x: tensor<4xf32>, %y: tensor<4xf32> {ingot.nograd}, %i: tensor<4xi32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %t = arith.mulf %l, %r : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %p : tensor<4xf32>
}

// A read that goes round the end is turned round: each of the 5 elements was read by up to 3 of the 12
// iterations, the last of which exist for two of the elements only.
// CHECK-LABEL: func.func @round
// CHECK-NOT:     ingot.scatter
// CHECK:         %d_x = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins({{%.*}} : tensor<3xf32>) outs({{%.*}} : tensor<5xf32>)
// CHECK:           [[P:%.*]] = linalg.index 0 : index
// CHECK:           [[N:%.*]] = linalg.index 1 : index
// CHECK:           [[R:%.*]] = arith.remui {{%.*}}, {{%.*}} : index
// CHECK-NEXT:      [[F:%.*]] = arith.muli [[N]], {{%.*}} : index
// CHECK-NEXT:      [[I:%.*]] = arith.addi [[R]], [[F]] : index
// CHECK:           [[E:%.*]] = arith.cmpi sle, [[I]], {{%.*}} : index
// CHECK:           tensor.extract %d_y
// CHECK:           arith.select [[E]]
func.func @round(%x: tensor<5xf32>) -> tensor<12xf32> {
  %e = tensor.empty() : tensor<12xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<12xf32>) {
  ^bb0(%out: f32):
    %three = arith.constant 3 : index
    %size = arith.constant 5 : index
    %zero = arith.constant 0 : index
    %i = linalg.index 0 : index
    %j = arith.subi %i, %three : index
    %r = arith.remsi %j, %size : index
    %below = arith.cmpi slt, %r, %zero : index
    %up = arith.addi %r, %size : index
    %at = arith.select %below, %up, %r : index
    %t = tensor.extract %x[%at] : tensor<5xf32>
    linalg.yield %t : f32
  } -> tensor<12xf32>
  return %y : tensor<12xf32>
}

// Forwards: tangents of arguments in, tangents of results out.
// CHECK-LABEL: func.func @along
// CHECK-SAME:    %t_x: tensor<4xf32>) -> tensor<4xf32>
// CHECK:         %t_y = linalg.generic {{.*}} ins({{.*}}%t_x
// CHECK:         return %t_y
func.func @along(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %s = math.sin %l : f32
    %t = arith.mulf %s, %r : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
