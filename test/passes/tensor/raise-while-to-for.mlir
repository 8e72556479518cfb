// RUN: ingot-opt %s -p 'raise-while-to-for' | filecheck %s

// A counter in a tensor of rank 0, as programs from StableHLO have it.
// CHECK-LABEL: func.func @counted
// CHECK:         [[END:%.*]] = arith.constant 5 : index
// CHECK:         scf.for {{%.*}} = {{%.*}} to [[END]] step {{%.*}} iter_args(%i = %zero, %v = %x)
// CHECK-NOT:     scf.while
func.func @counted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0 : i32
  %one = arith.constant 3 : i32
  %e = tensor.empty() : tensor<i32>
  %zero = linalg.fill ins(%c : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %b = tensor.empty() : tensor<i1>
  %r:2 = scf.while (%i = %zero, %v = %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %end = arith.constant 15 : i32
    %less = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%i : tensor<i32>) outs(%b : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %cmp = arith.cmpi slt, %in, %end : i32
      linalg.yield %cmp : i1
    } -> tensor<i1>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %i, %v : tensor<i32>, tensor<4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %next = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %sum = arith.addi %in, %one : i32
      linalg.yield %sum : i32
    } -> tensor<i32>
    scf.yield %next, %v : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// What the data ends stays a loop that it ends.
// CHECK-LABEL: func.func @by_data
// CHECK:         scf.while
func.func @by_data(%x: f32) -> f32 {
  %end = arith.constant 15.0 : f32
  %r = scf.while (%v = %x) : (f32) -> f32 {
    %go = arith.cmpf olt, %v, %end : f32
    scf.condition(%go) %v : f32
  } do {
  ^bb0(%v: f32):
    %next = arith.addf %v, %v : f32
    scf.yield %next : f32
  }
  return %r : f32
}
