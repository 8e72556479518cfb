// RUN: ingot-opt %s -p 'gather-to-generic' | filecheck %s

// CHECK-LABEL: func.func @rows
// CHECK:         linalg.generic
// CHECK:           [[B:%.*]] = linalg.index 0 : index
// CHECK-NEXT:      [[J:%.*]] = linalg.index 1 : index
// CHECK:           [[E:%.*]] = tensor.extract %i[[[B]], %{{.*}}] : tensor<5x1xi32>
// CHECK-NEXT:      [[K:%.*]] = arith.index_cast [[E]] : i32 to index
// CHECK-NEXT:      tensor.extract %x[[[K]], [[J]]] : tensor<9x4xf32>
func.func @rows(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) -> tensor<5x4xf32> {
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @scatter
// CHECK:         [[U:%.*]] = tensor.collapse_shape %u {{.*}} : tensor<5x1x4xf32> into tensor<5x4xf32>
// CHECK-NEXT:    ingot.scatter unique dimensions = [0] ins(%i, [[U]] : tensor<5x1xi32>, tensor<5x4xf32>) outs(%x : tensor<9x4xf32>) {
// CHECK-NEXT:    ^bb0({{%.*}}: f32, [[N:%.*]]: f32):
// CHECK-NEXT:      ingot.yield [[N]] : f32
func.func @scatter(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x1x4xf32>) -> tensor<9x4xf32> {
  %0 = tensor.scatter %u into %x[%i] scatter_dims([0]) unique : (tensor<5x1x4xf32>, tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}
