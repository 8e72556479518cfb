// RUN: ingot-opt %s | ingot-opt | filecheck %s --check-prefix=ROUND
// RUN: ingot-opt %s -p drop-shardings | filecheck %s

// ROUND: sdy.mesh @one = <["x"=1]>
// CHECK-NOT: sdy.
sdy.mesh @one = <["x"=1]> {stablehlo.mesh = {axes = []}}

// ROUND:       sdy.sharding_constraint %x <@one, [{"x"}, {}]> : tensor<2x3xui32>
// CHECK-LABEL: func.func @constrained
// CHECK-NEXT:    func.return %x
func.func @constrained(%x: tensor<2x3xui32>) -> tensor<2x3xui32> {
  %0 = sdy.sharding_constraint %x <@one, [{"x"}, {?}]> : tensor<2x3xui32>
  return %0 : tensor<2x3xui32>
}
