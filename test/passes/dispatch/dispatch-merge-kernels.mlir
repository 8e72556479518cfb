// RUN: ingot-opt %s -p 'dispatch-merge-kernels' | filecheck %s
// RUN: ingot-opt %s -p 'dispatch-merge-kernels' --print-locations | filecheck %s --check-prefix=FROM

// Two kernels that differ in names only become one; the third differs in what it computes.
// CHECK-LABEL: func.func @main
// CHECK:         dispatch.call @first(%x)
// CHECK-NEXT:    dispatch.call @first(
// CHECK-NEXT:    dispatch.call @third(
// CHECK:       func.func private @first
// CHECK-NOT:   @second
// CHECK:       func.func private @third

// An op that is kept comes from both places.
// FROM: linalg.exp {{.*}}fused[{{.*}}:26:8{{.*}}:33:8

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dispatch.call @second(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = dispatch.call @third(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

func.func private @first(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {ingot.kernel, ingot.kind = "pointwise", ingot.names = ["a", "b"]} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func private @second(%other: tensor<4xf32>) -> tensor<4xf32>
    attributes {ingot.kernel, ingot.kind = "pointwise", ingot.names = ["p", "q"]} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%other : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func private @third(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {ingot.kernel, ingot.kind = "pointwise", ingot.names = ["a", "b"]} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.log ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
