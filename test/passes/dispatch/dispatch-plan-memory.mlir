// RUN: ingot-opt %s -p 'dispatch-plan-memory' --split-input-file | filecheck %s

// The intermediate lies in the arena, the result is written in place, reshapes are views, and a
// barrier stands between the kernel that writes and the one that reads.
// CHECK:       plan.program @chain (tensor<4x16xf32>) -> tensor<64xf32> transient 256 lower_bound 256 arguments ["x"] results ["result0"] {
// CHECK-NEXT:    plan.dispatch @k [#plan.range<argument 0, 0 : 256>, #plan.range<transient 0, 0 : 256>] reads 1
// CHECK-NEXT:    plan.barrier
// CHECK-NEXT:    plan.dispatch @k [#plan.range<transient 0, 0 : 256>, #plan.range<result 0, 0 : 256>] reads 1
// CHECK-NEXT:  }
func.func @chain(%x: tensor<4x16xf32>) -> tensor<64xf32> {
  %0 = dispatch.call @k(%x) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = dispatch.call @k(%0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x16xf32> into tensor<64xf32>
  return %2 : tensor<64xf32>
}
func.func private @k(tensor<4x16xf32>) -> tensor<4x16xf32> attributes {ingot.kernel}

// -----

// Independent kernels need no barrier between them.
// CHECK:       plan.program @independent
// CHECK-NEXT:    plan.dispatch
// CHECK-NEXT:    plan.dispatch
// CHECK-NEXT:  }
func.func @independent(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = dispatch.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dispatch.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @k(tensor<4xf32>) -> tensor<4xf32> attributes {ingot.kernel}

// -----

// Results that no kernel writes are copied: an argument, a constant (stored once), the same value
// again. A fill is a command with the shortest pattern.
// CHECK:       plan.constant @c dense<[1, 2]> : tensor<2xi32> as tensor<2xi32>
// CHECK-NOT:   plan.constant
// CHECK:       plan.program @copies
// CHECK-NEXT:    plan.fill #plan.range<result 3, 0 : 16> with "0xFF"
// CHECK-NEXT:    plan.copy <argument 0, 0 : 8> to <result 0, 0 : 8>
// CHECK-NEXT:    plan.copy <constant 0, 0 : 8> to <result 1, 0 : 8>
// CHECK-NEXT:    plan.copy <constant 0, 0 : 8> to <result 2, 0 : 8>
// CHECK-NEXT:    plan.barrier
// CHECK-NEXT:    plan.copy <result 3, 0 : 16> to <result 4, 0 : 16>
func.func @copies(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi64>, tensor<2xi64>) {
  %c = arith.constant dense<[1, 2]> : tensor<2xi32>
  %d = arith.constant dense<[1, 2]> : tensor<2xi32>
  %m = arith.constant -1 : i64
  %e = tensor.empty() : tensor<2xi64>
  %f = linalg.fill ins(%m : i64) outs(%e : tensor<2xi64>) -> tensor<2xi64>
  return %x, %c, %d, %f, %f : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi64>, tensor<2xi64>
}

// -----

// What a loop carries has one place, here that of the result. The kernel that makes the first value
// writes it there; a value of which the body needs the old one is copied at the end of the body.
// CHECK:       plan.program @loop (tensor<4xf32>) -> tensor<4xf32> transient 16
// CHECK-NEXT:    plan.dispatch @k [#plan.range<argument 0, 0 : 16>, #plan.range<result 0, 0 : 16>] reads 1
// CHECK-NEXT:    plan.loop times 3 {
// CHECK-NEXT:      plan.dispatch @k [#plan.range<result 0, 0 : 16>, #plan.range<transient 0, 0 : 16>] reads 1
// CHECK-NEXT:      plan.barrier
// CHECK-NEXT:      plan.copy <transient 0, 0 : 16> to <result 0, 0 : 16>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = host.loop @body times 3 carry(%0 : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @body(%a: tensor<4xf32>) -> tensor<4xf32> attributes {ingot.host_body} {
  %0 = dispatch.call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @k(tensor<4xf32>) -> tensor<4xf32> attributes {ingot.kernel}

// -----

// Both sides of a branch write the result themselves; a loop asks after its condition.
// CHECK:       plan.program @decide
// CHECK-NEXT:    plan.if <argument 0, 0 : 1> {
// CHECK-NEXT:      plan.dispatch @k [#plan.range<argument 1, 0 : 16>, #plan.range<result 0, 0 : 16>] reads 1
// CHECK-NEXT:    } else {
// CHECK-NEXT:      plan.copy <argument 1, 0 : 16> to <result 0, 0 : 16>
// CHECK-NEXT:    }
// CHECK-NEXT:    plan.copy <argument 1, 0 : 16> to <transient 0, [[AT:[0-9]+]] : 16>
// CHECK-NEXT:    plan.while <transient 0, [[FLAG:[0-9]+]] : 1> {
// CHECK-NEXT:      plan.dispatch @p [#plan.range<transient 0, [[AT]] : 16>, #plan.range<transient 0, [[FLAG]] : 1>] reads 1
// CHECK-NEXT:    } do {
// CHECK:         }
// CHECK-NEXT:    plan.copy <transient 0, [[AT]] : 16> to <result 1, 0 : 16>
func.func @decide(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = host.if %c : tensor<i1> then @then else @else use(%x : tensor<4xf32>) -> tensor<4xf32>
  %1 = host.while @go do @then carry(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @then(%a: tensor<4xf32>) -> tensor<4xf32> attributes {ingot.host_body} {
  %0 = dispatch.call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @else(%a: tensor<4xf32>) -> tensor<4xf32> attributes {ingot.host_body} {
  return %a : tensor<4xf32>
}
func.func private @go(%a: tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>) attributes {ingot.host_body} {
  %0 = dispatch.call @p(%a) : (tensor<4xf32>) -> tensor<i1>
  return %0, %a : tensor<i1>, tensor<4xf32>
}
func.func private @p(tensor<4xf32>) -> tensor<i1> attributes {ingot.kernel}
func.func private @k(tensor<4xf32>) -> tensor<4xf32> attributes {ingot.kernel}

// -----

// Sizes that a call decides are registers, computed first; what is equal by construction is one. The
// kernel gets its sizes in a buffer; the intermediate lies behind it, and the arena is as large as
// both.
// CHECK:       plan.program @sized (tensor<?x4xf32>) -> tensor<?x4xf32> transient 0 lower_bound 4 arguments ["x"] results ["result0"] registers [[COUNT:[0-9]+]] arena #plan.register<[[ARENA:[0-9]+]]> sizes [#plan.register<0>] {
// CHECK-NEXT:    plan.size <0> argument 0 dimension 0
// CHECK-NEXT:    plan.compute <1> "multiply" #plan.register<0>, #builtin.int<16>
// CHECK:         plan.check
// CHECK:         plan.compute <[[AT:[0-9]+]]> "add" #builtin.int<256>, #builtin.int<0>
// CHECK:         plan.compute <[[ARENA]]> "add" #plan.register<[[AT]]>
// CHECK-NEXT:    plan.store <0> to <transient 0, 0 : 4>
// CHECK-NEXT:    plan.barrier
// CHECK-NEXT:    plan.dispatch @k [#plan.range<argument 0, 0 : r 1>, #plan.range<transient 0, 0 : 4>, #plan.range<transient 0, r [[AT]] : r 1>] reads 2 groups
// CHECK-NEXT:    plan.barrier
// CHECK-NEXT:    plan.dispatch @k [#plan.range<transient 0, r [[AT]] : r 1>, #plan.range<transient 0, 0 : 4>, #plan.range<result 0, 0 : r 1>] reads 2 groups
// CHECK-NEXT:  }
func.func @sized(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %0 = host.dispatch @k over(%m, %c4) use(%x : tensor<?x4xf32>) sizes(%m) -> tensor<?x4xf32> of(%n)
  %1 = host.dispatch @k over(%n, %c4) use(%0 : tensor<?x4xf32>) sizes(%n) -> tensor<?x4xf32> of(%m)
  return %1 : tensor<?x4xf32>
}
func.func private @k(memref<?xf32>, memref<?xi32>, memref<?xf32>) attributes {ingot.kernel}
