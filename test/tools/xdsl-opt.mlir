// RUN: xdsl-opt %s -p 'lower-forall,canonicalize' | filecheck %s

// xDSL's own tools find Ingot's dialects and passes through the entry point `xdsl.universe`.
// CHECK: dispatch.call @kernel

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.call @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @kernel(tensor<4xf32>) -> tensor<4xf32>
