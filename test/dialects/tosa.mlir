// RUN: ingot-opt %s --split-input-file | ingot-opt --split-input-file | filecheck %s
// RUN: ingot-opt %s --split-input-file --print-generic | ingot-opt --split-input-file | filecheck %s

// The form of LLVM 22: shapes, shifts and zero points are operands, words stand bare.
// CHECK-LABEL: func.func @llvm22
func.func @llvm22(%x: tensor<1x4x4x2xi8>, %w: tensor<3x1x1x2xi8>, %b: tensor<3xi32>, %f: tensor<4x6xf32>, %i: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xi8> {
  %zp = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  // CHECK: tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = i32, dilation = array<i64: 1, 1>, local_bound = true, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
  %0 = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, local_bound = true} : (tensor<1x4x4x2xi8>, tensor<3x1x1x2xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x3xi32>
  %m = "tosa.const"() {values = dense<[2026291432, 1079222024, 1693132724]> : tensor<3xi32>} : () -> tensor<3xi32>
  %s = "tosa.const"() {values = dense<[37, 36, 37]> : tensor<3xi8>} : () -> tensor<3xi8>
  %izp = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  // CHECK: tosa.rescale %0, %m, %s, %izp, %zp {{{.*}}rounding_mode = DOUBLE_ROUND
  %1 = tosa.rescale %0, %m, %s, %izp, %zp {rounding_mode = DOUBLE_ROUND, scale32 = true, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<1x4x4x3xi32>, tensor<3xi32>, tensor<3xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x4x4x3xi8>
  // CHECK: tosa.maximum %f, %f {nan_mode = IGNORE}
  %2 = tosa.maximum %f, %f {nan_mode = IGNORE} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: tosa.clamp %{{.*}} {max_val = 1.000000e+00 : f32, min_val = 0.000000e+00 : f32, nan_mode = PROPAGATE}
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 1.0 : f32, nan_mode = #tosa.nan_mode<PROPAGATE>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %off = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  // CHECK: tosa.resize %i, %scale, %off, %off {mode = BILINEAR}
  %4 = tosa.resize %i, %scale, %off, %off {mode = BILINEAR} : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x7x7x2xf32>
  return %1 : tensor<1x4x4x3xi8>
}

// -----

// The form of LLVM 19: all are attributes, words are strings.
// CHECK-LABEL: func.func @llvm19
func.func @llvm19(%x: tensor<1x4x4x2xi8>, %w: tensor<3x1x1x2xi8>, %b: tensor<3xi32>, %f: tensor<4x6xf32>) -> tensor<1x4x4x3xi8> {
  // CHECK: quantization_info = #tosa.conv_quant<input_zp = -128, weight_zp = 0>
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, quantization_info = #tosa.conv_quant<input_zp = -128, weight_zp = 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<3x1x1x2xi8>, tensor<3xi32>) -> tensor<1x4x4x3xi32>
  // CHECK: double_round = true
  %1 = tosa.rescale %0 {double_round = true, input_zp = 0 : i32, multiplier = array<i32: 1073741824>, output_zp = 3 : i32, per_channel = false, scale32 = true, shift = array<i8: 40>} : (tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xi8>
  // CHECK: #tosa.unary_quant<input_zp = 1, output_zp = 2>
  %2 = tosa.negate %1 {quantization_info = #tosa.unary_quant<input_zp = 1, output_zp = 2>} : (tensor<1x4x4x3xi8>) -> tensor<1x4x4x3xi8>
  %p = "tosa.const"() <{value = dense<[[0, 1], [1, 0], [0, 0], [0, 0]]> : tensor<4x2xi32>}> : () -> tensor<4x2xi32>
  // CHECK: #tosa.pad_quant<input_zp = 5>
  %3 = tosa.pad %2, %p {quantization_info = #tosa.pad_quant<input_zp = 5>} : (tensor<1x4x4x3xi8>, tensor<4x2xi32>) -> tensor<2x5x4x3xi8>
  return %1 : tensor<1x4x4x3xi8>
}

// -----

// Regions may name arguments; those of a condition are replaced by their values.
// CHECK-LABEL: func.func @control
func.func @control(%x: tensor<f32>, %y: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  // CHECK:      tosa.cond_if %c (%a = %x, %b = %y) : tensor<i1> (tensor<f32>, tensor<f32>) -> (tensor<f32>) {
  // CHECK-NEXT: ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  // CHECK-NEXT:   tosa.yield %a
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %[[B:.*]]: tensor<f32>):
  // CHECK-NEXT:   tosa.yield %[[B]]
  %0 = tosa.cond_if %c (%a = %x, %b = %y) : tensor<i1> (tensor<f32>, tensor<f32>) -> tensor<f32> {
    tosa.yield %a : tensor<f32>
  } else {
    tosa.yield %b : tensor<f32>
  }
  %1 = tosa.cond_if %c -> (tensor<f32>) {
    tosa.yield %0 : tensor<f32>
  } else {
    tosa.yield %y : tensor<f32>
  }
  // CHECK:      tosa.while_loop (%[[V:.*]] = %{{.*}}) : (tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT:   tosa.greater %[[V]], %x
  // CHECK:      } do {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>):
  %2 = tosa.while_loop (%v = %1) : (tensor<f32>) -> tensor<f32> {
    %3 = tosa.greater %v, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
    tosa.yield %3 : tensor<i1>
  } do {
  ^bb0(%v: tensor<f32>):
    %4 = tosa.floor %v : (tensor<f32>) -> tensor<f32>
    tosa.yield %4 : tensor<f32>
  }
  return %2 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @two_results
func.func @two_results(%x: tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = tosa.fft2d %x, %x {inverse = false}
  %0, %1 = tosa.fft2d %x, %x {inverse = false} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>)
  return %0, %1 : tensor<1x4x8xf32>, tensor<1x4x8xf32>
}
