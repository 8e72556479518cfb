// RUN: ingot-opt %s -p 'drop-asserts' | filecheck %s

// CHECK:       builtin.module attributes {ingot.warnings = ["the check \22not zero\22 is not made on the device"]}
// CHECK-LABEL: func.func @checked
// CHECK-NOT:     cf.assert
func.func @checked(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.cmpf one, %a, %c : f32
    cf.assert %1, "not zero"
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What is said about sizes is checked when the function is called.
// CHECK-LABEL: func.func @sized
// CHECK:         %[[EQ:.*]] = arith.cmpi eq
// CHECK-NEXT:    host.check %[[EQ]], "mismatched sizes"
func.func @sized(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %equal = arith.cmpi eq, %m, %n : index
  cf.assert %equal, "mismatched sizes"
  return %x : tensor<?xf32>
}
