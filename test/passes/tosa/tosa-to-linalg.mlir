// RUN: ingot-opt %s -p 'tosa-upgrade,tosa-to-linalg' --split-input-file | filecheck %s

// Elementwise ops broadcast by their maps; NaN modes choose the op.
// CHECK-LABEL: func.func @elementwise
// CHECK:         affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>
// CHECK:           arith.addf
// CHECK:           arith.maxnumf
func.func @elementwise(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = tosa.add %x, %y : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %1 = tosa.maximum %0, %x {nan_mode = IGNORE} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Halves are summed in f32; the axis stays as a dimension of one element.
// CHECK-LABEL: func.func @reduction
// CHECK:         outs(%{{.*}} : tensor<4xf32>)
// CHECK:           arith.extf %{{.*}} : f16 to f32
// CHECK:           arith.addf
// CHECK:           arith.truncf %{{.*}} : f32 to f16
// CHECK:         tensor.expand_shape %{{.*}} {{.*}} output_shape [4, 1]
func.func @reduction(%x: tensor<4x8xf16>) -> tensor<4x1xf16> {
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x8xf16>) -> tensor<4x1xf16>
  return %0 : tensor<4x1xf16>
}

// -----

// The padding is the zero point, which the body takes away again; weights without one keep the
// plain form of a contraction.
// CHECK-LABEL: func.func @convolution
// CHECK:         %[[ZP:.*]] = arith.constant -7 : i8
// CHECK:         tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK:           tensor.yield %[[ZP]]
// CHECK:         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK:           %[[A:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK:           %[[B:.*]] = arith.subi %[[A]]
// CHECK:           %[[C:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK-NEXT:      arith.muli %[[B]], %[[C]]
// CHECK:         arith.addi
func.func @convolution(%x: tensor<1x8x8x3xi8>, %w: tensor<4x3x3x3xi8>, %b: tensor<4xi32>) -> tensor<1x8x8x4xi32> {
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, quantization_info = #tosa.conv_quant<input_zp = -7, weight_zp = 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x3xi8>, tensor<4x3x3x3xi8>, tensor<4xi32>) -> tensor<1x8x8x4xi32>
  return %0 : tensor<1x8x8x4xi32>
}

// -----

// Half of the divisor is added in 64 bits, and the second rounding where the shift exceeds 31.
// CHECK-LABEL: func.func @rescale
// CHECK:         arith.extsi %{{.*}} : i32 to i64
// CHECK:         arith.cmpi sge
// CHECK:         arith.cmpi sgt
// CHECK:         arith.muli %{{.*}} : i64
// CHECK:         arith.shrsi %{{.*}} : i64
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         arith.trunci %{{.*}} : i64 to i8
func.func @rescale(%x: tensor<4xi32>) -> tensor<4xi8> {
  %0 = tosa.rescale %x {double_round = true, input_zp = 0 : i32, multiplier = array<i32: 1073741824>, output_zp = -1 : i32, per_channel = false, scale32 = true, shift = array<i8: 38>} : (tensor<4xi32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// An apply_scale inside of a body becomes the same arithmetic there.
// CHECK-LABEL: func.func @scalar_scale
// CHECK:         linalg.generic
// CHECK:           arith.shrsi %{{.*}} : i64
// CHECK-NEXT:      arith.trunci %{{.*}} : i64 to i32
// CHECK-NEXT:      linalg.yield
func.func @scalar_scale(%x: tensor<4xi32>, %m: i32, %s: i8) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %out: i32):
    %1 = tosa.apply_scale %a, %m, %s {double_round = true} : (i32, i32, i8) -> i32
    linalg.yield %1 : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Sizes that a call decides are those of what is read.
// CHECK-LABEL: func.func @dynamic
// CHECK:         tensor.expand_shape %x
// CHECK:         %[[M:.*]] = tensor.dim
// CHECK:         tensor.empty(%[[M]]) : tensor<1x?x8xf32>
// CHECK:         tensor.collapse_shape %{{.*}} : tensor<1x?x8xf32> into tensor<?x8xf32>
func.func @dynamic(%x: tensor<?x4xf32>, %w: tensor<1x4x8xf32>) -> tensor<?x8xf32> {
  %0 = tosa.reshape %x {new_shape = array<i64: 1, -1, 4>} : (tensor<?x4xf32>) -> tensor<1x?x4xf32>
  %1 = tosa.matmul %0, %w : (tensor<1x?x4xf32>, tensor<1x4x8xf32>) -> tensor<1x?x8xf32>
  %2 = tosa.reshape %1 {new_shape = array<i64: -1, 8>} : (tensor<1x?x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

// Conditions become scalars.
// CHECK-LABEL: func.func @control
// CHECK:         %[[C:.*]] = tensor.extract %c[] : tensor<i1>
// CHECK:         scf.if %[[C]] -> (tensor<4xf32>)
// CHECK:           scf.yield
// CHECK:         scf.while
// CHECK:           scf.condition(%{{.*}})
// CHECK:           scf.yield
// CHECK-NOT:     tosa
func.func @control(%x: tensor<4xf32>, %c: tensor<i1>, %n: tensor<i32>) -> tensor<i32> {
  %0 = tosa.cond_if %c -> (tensor<4xf32>) {
    %1 = tosa.floor %x : (tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %1 : tensor<4xf32>
  } else {
    tosa.yield %x : tensor<4xf32>
  }
  %2 = tosa.while_loop (%i = %n) : (tensor<i32>) -> tensor<i32> {
    %3 = tosa.greater %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %3 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    %4 = tosa.add %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %4 : tensor<i32>
  }
  return %2 : tensor<i32>
}
