// RUN: ingot-opt %s -p 'slices-to-generic' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @strided
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ((d0 * 2), (d1 + 3))>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME:    ins(%x : tensor<10x20xf32>)
func.func @strided(%x: tensor<10x20xf32>) -> tensor<5x17xf32> {
  %0 = tensor.extract_slice %x[0, 3] [5, 17] [2, 1] : tensor<10x20xf32> to tensor<5x17xf32>
  return %0 : tensor<5x17xf32>
}

// -----

// A loop must run over a whole dimension: the first half is the first of two parts.
// CHECK-LABEL: func.func @first_half
// CHECK:         %[[S:.*]] = tensor.expand_shape %x {{.*}} : tensor<8xf32> into tensor<2x4xf32>
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0) -> (0, d0)>, affine_map<(d0) -> (d0)>]
func.func @first_half(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @rank_reducing
// CHECK:         affine_map<(d0) -> (3, d0)>
func.func @rank_reducing(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %0 = tensor.extract_slice %x[3, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A computed offset is moved into range.
// CHECK-LABEL: func.func @computed_offset
// CHECK:         linalg.generic
// CHECK:           arith.maxsi %i, %{{.*}} : index
// CHECK:           arith.minsi
// CHECK:           tensor.extract %x[%{{.*}}] : tensor<8xf32>
func.func @computed_offset(%x: tensor<8xf32>, %t: tensor<index>) -> tensor<4xf32> {
  %i = tensor.extract %t[] : tensor<index>
  %0 = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @insert
// CHECK:         linalg.generic {{.*}} ins(%y : tensor<8xf32>)
// CHECK:           arith.cmpi sge
// CHECK:           arith.cmpi sle
// CHECK:           tensor.extract %x
// CHECK:           arith.select
func.func @insert(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tensor.insert_slice %x into %y[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @concat
// CHECK:           tensor.extract %x
// CHECK:           tensor.extract %y
// CHECK:           arith.select
func.func @concat(%x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<7xf32> {
  %0 = tensor.concat dim(0) %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK-LABEL: func.func @backwards
// CHECK:         affine_map<(d0) -> (((d0 * -2) + 8))>
func.func @backwards(%x: tensor<9xf32>) -> tensor<4xf32> {
  %0 = tensor.extract_slice %x[8] [4] [-2] : tensor<9xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @insert_by_a_computed_stride
// CHECK:         arith.divsi
// CHECK:         tensor.extract %x
func.func @insert_by_a_computed_stride(%x: tensor<3xf32>, %d: tensor<9xf32>, %s: index) -> tensor<9xf32> {
  %0 = tensor.insert_slice %x into %d[1] [3] [%s] : tensor<3xf32> into tensor<9xf32>
  return %0 : tensor<9xf32>
}
