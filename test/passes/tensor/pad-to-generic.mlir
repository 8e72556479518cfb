// RUN: ingot-opt %s -p 'pad-to-generic' --split-input-file | filecheck %s

// Only the sides that are padded are tested, and the source is read at clamped indices.
// CHECK-LABEL: func.func @low_and_high
// CHECK:         linalg.generic
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[J:.*]] = linalg.index 1 : index
// CHECK:           %[[D:.*]] = arith.subi %[[I]], %{{.*}} : index
// CHECK:           arith.cmpi sge, %[[D]]
// CHECK:           arith.maxsi
// CHECK:           arith.cmpi slt, %[[J]]
// CHECK:           arith.minsi %[[J]]
// CHECK:           tensor.extract %x
// CHECK:           arith.select
// CHECK:         -> tensor<5x9xf32>
func.func @low_and_high(%x: tensor<4x8xf32>) -> tensor<5x9xf32> {
  %c = arith.constant 7.0 : f32
  %0 = tensor.pad %x low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x8xf32> to tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

// -----

// The padding may depend on the position.
// CHECK-LABEL: func.func @computed_padding
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[P:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[P]] : i32
func.func @computed_padding(%x: tensor<4xi32>) -> tensor<5xi32> {
  %0 = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    %p = arith.index_cast %i : index to i32
    tensor.yield %p : i32
  } : tensor<4xi32> to tensor<5xi32>
  return %0 : tensor<5xi32>
}

// -----

// A negative amount takes elements away.
// CHECK-LABEL: func.func @crop
// CHECK:         arith.subi %{{.*}}, %{{.*}} : index
// CHECK-NOT:     arith.cmpi
// CHECK:         tensor.extract %x
func.func @crop(%x: tensor<7xf32>, %c: f32) -> tensor<4xf32> {
  %0 = tensor.pad %x low[-2] high[-1] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<7xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
