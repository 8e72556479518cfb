// RUN: ingot-opt %s -p 'lift-cf-to-scf' --split-input-file | filecheck %s

// Both sides meet again; one has no block of its own.
// CHECK-LABEL: func.func @triangle
// CHECK:         %[[C:.*]] = tensor.extract
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[C]] -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[S:.*]] = "test.op"(%x)
// CHECK-NEXT:      scf.yield %[[S]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %x
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[R]]
func.func @triangle(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  cf.cond_br %c, ^then(%x : tensor<4xf32>), ^join(%x : tensor<4xf32>)
^then(%a: tensor<4xf32>):
  %s = "test.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^join(%s : tensor<4xf32>)
^join(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

// -----

// Two returns are one, behind the branch.
// CHECK-LABEL: func.func @returns
// CHECK:         %[[R:.*]] = scf.if %{{.*}} -> (tensor<4xf32>) {
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %x
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[R]]
// CHECK-NOT:     cf.
func.func @returns(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  cf.cond_br %c, ^then, ^else
^then:
  %s = "test.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
^else:
  return %x : tensor<4xf32>
}

// -----

// A block that decides whether to run a body again; what it computes is passed on.
// CHECK-LABEL: func.func @loop
// CHECK:         %{{.*}} = scf.while (%[[I:.*]] = %{{.*}}, %[[A:.*]] = %x) :
// CHECK-NEXT:      %[[D:.*]] = "test.op"(%[[A]])
// CHECK-NEXT:      %[[P:.*]] = arith.cmpi slt, %[[I]]
// CHECK-NEXT:      scf.condition(%[[P]]) %[[D]], %[[I]]{{.*}}
// CHECK-NEXT:    } do {
// CHECK:           arith.addi
// CHECK:           scf.yield
// CHECK-NOT:     cf.
// CHECK:         func.return
func.func @loop(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = arith.constant 7 : i32
  cf.br ^header(%c0, %x : i32, tensor<4xf32>)
^header(%i: i32, %a: tensor<4xf32>):
  %d = "test.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %p = arith.cmpi slt, %i, %n : i32
  cf.cond_br %p, ^body, ^exit(%d : tensor<4xf32>)
^body:
  %j = arith.addi %i, %c1 : i32
  cf.br ^header(%j, %d : i32, tensor<4xf32>)
^exit(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

// -----

// What has neither shape is left as it is: here a block is entered from two places.
// CHECK-LABEL: func.func @irregular
// CHECK:         cf.cond_br
func.func @irregular(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  cf.cond_br %c, ^one(%x : tensor<4xf32>), ^two(%x : tensor<4xf32>)
^one(%a: tensor<4xf32>):
  %d = "test.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  cf.cond_br %c, ^two(%d : tensor<4xf32>), ^exit(%d : tensor<4xf32>)
^two(%b: tensor<4xf32>):
  %e = "test.op"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  cf.cond_br %c, ^one(%e : tensor<4xf32>), ^exit(%e : tensor<4xf32>)
^exit(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}
