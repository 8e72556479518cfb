// RUN: ingot-opt %s -p 'outline-control-flow' --split-input-file | filecheck %s

// The induction variable is a tensor that the body counts up; constants and empty tensors are made
// inside, what else is used from above is handed over.
// CHECK-LABEL: func.func @counted
// CHECK:         %[[I:.*]] = linalg.fill ins({{.*}} : i32)
// CHECK:         host.loop @counted_loop times 4 carry(%[[I]], %x : tensor<i32>, tensor<8xf32>) use(%y : tensor<8xf32>) -> tensor<i32>, tensor<8xf32>
// CHECK:       func.func private @counted_loop(%i: tensor<i32>, %a: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) attributes {ingot.host_body}
// CHECK:         arith.constant 2 : index
// CHECK:         tensor.extract %i[] : tensor<i32>
// CHECK:         arith.index_cast
// CHECK:         "test.op"(%{{.*}}, %a, %y)
// CHECK:         arith.addi
// CHECK:         func.return %{{.*}}, %s : tensor<i32>, tensor<8xf32>
func.func @counted(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c2 iter_args(%a = %x) -> (tensor<8xf32>) {
    %s = "test.op"(%i, %a, %y) : (index, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// An induction variable that nobody uses is not counted. A loop that never runs is what it starts
// from.
// CHECK-LABEL: func.func @unused
// CHECK:         host.loop @unused_loop times 3 carry(%x : tensor<8xf32>) -> tensor<8xf32>
// CHECK-NOT:     host.loop
// CHECK:         func.return %x, %{{.*}}
func.func @unused(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<8xf32>) : i32 {
    %s = "test.op"(%a) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  %q = scf.for %i = %c3 to %c0 step %c1 iter_args(%a = %x) -> (tensor<8xf32>) : i32 {
    %s = "test.op"(%a) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %q, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// How often a loop with computed bounds runs is computed on the device.
// CHECK-LABEL: func.func @computed
// CHECK:         arith.divui
// CHECK:         linalg.yield {{.*}} : i32
// CHECK:         host.loop @computed_loop count(%{{.*}} : tensor<i32>) carry(%x : tensor<8xf32>)
func.func @computed(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = tensor.extract %n[] : tensor<i32>
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<8xf32>) : i32 {
    %s = "test.op"(%a) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Scalars that are carried, passed on or given back are tensors of rank 0.
// CHECK-LABEL: func.func @while
// CHECK:         %[[R:.*]] = host.while @while_while_condition do @while_while carry(%{{.*}} : tensor<i64>) use(%n : tensor<i64>) -> tensor<i64>
// CHECK:         tensor.extract %[[R]][] : tensor<i64>
// CHECK:       func.func private @while_while_condition(%i: tensor<i64>, %{{.*}}: tensor<i64>) -> (tensor<i1>, tensor<i64>)
// CHECK:       func.func private @while_while(%j: tensor<i64>, %{{.*}}: tensor<i64>) -> tensor<i64>
func.func @while(%n: tensor<i64>) -> tensor<i64> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %end = tensor.extract %n[] : tensor<i64>
  %r = scf.while (%i = %c0) : (i64) -> i64 {
    %p = arith.cmpi slt, %i, %end : i64
    scf.condition(%p) %i : i64
  } do {
  ^bb0(%j: i64):
    %k = arith.addi %j, %c1 : i64
    scf.yield %k : i64
  }
  %e = tensor.empty() : tensor<i64>
  %t = linalg.fill ins(%r : i64) outs(%e : tensor<i64>) -> tensor<i64>
  return %t : tensor<i64>
}

// -----

// A branch asks the tensor that its condition is read from; one on a constant disappears.
// CHECK-LABEL: func.func @branch
// CHECK:         %[[R:.*]] = host.if %p : tensor<i1> then @branch_then else @branch_else use(%x, %y : tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    "test.op"(%[[R]])
// CHECK:       func.func private @branch_then
// CHECK-NEXT:    func.return %x
func.func @branch(%p: tensor<i1>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  %true = arith.constant true
  %r = scf.if %c -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    scf.yield %y : tensor<8xf32>
  }
  %q = scf.if %true -> (tensor<8xf32>) {
    %s = "test.op"(%r) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %q : tensor<8xf32>
}

// -----

// Sizes are asked for in the body again, of the tensors that go in; what they are computed from, too.
// CHECK-LABEL: func.func @sizes
// CHECK:         host.loop @sizes_loop times 4 carry(%x : tensor<?xf32>) use(%y : tensor<?xf32>)
// CHECK:       func.func private @sizes_loop(%h: tensor<?xf32>, %y: tensor<?xf32>)
// CHECK:         [[N:%.*]] = tensor.dim %y
// CHECK:         [[M:%.*]] = arith.divui [[N]]
// CHECK:         tensor.empty([[M]]) : tensor<?xf32>
func.func @sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %m = arith.divui %n, %c2 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x) -> (tensor<?xf32>) {
    %e = tensor.empty(%m) : tensor<?xf32>
    %a = linalg.exp ins(%h : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
