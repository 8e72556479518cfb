// RUN: ingot-opt %s -p 'tosa-upgrade' --split-input-file | filecheck %s

// Shapes, attributes up to LLVM 20, become operands.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x6xf32>) -> tensor<5x24xf32> {
  // CHECK:      %[[NEW:.*]] = tosa.const_shape {values = dense<[6, 4]> : tensor<2xindex>}
  // CHECK-NEXT: tosa.reshape %x, %[[NEW]] :
  %0 = tosa.reshape %x {new_shape = array<i64: 6, 4>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // CHECK:      %[[START:.*]] = tosa.const_shape {values = dense<[1, 0]>
  // CHECK-NEXT: %[[SIZE:.*]] = tosa.const_shape {values = dense<4>
  // CHECK-NEXT: tosa.slice %{{.*}}, %[[START]], %[[SIZE]] :
  %1 = tosa.slice %0 {start = array<i64: 1, 0>, size = array<i64: 4, 4>} : (tensor<6x4xf32>) -> tensor<4x4xf32>
  // CHECK:      %[[TIMES:.*]] = tosa.const_shape {values = dense<[1, 6]>
  // CHECK-NEXT: tosa.tile %{{.*}}, %[[TIMES]] :
  %2 = tosa.tile %1 {multiples = array<i64: 1, 6>} : (tensor<4x4xf32>) -> tensor<4x24xf32>
  %p = "tosa.const"() <{value = dense<[[1, 0], [0, 0]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  // CHECK:      %[[AMOUNTS:.*]] = tosa.const_shape {values = dense<[1, 0, 0, 0]> : tensor<4xindex>}
  // CHECK-NEXT: %[[ZERO:.*]] = tosa.const {values = dense<0.000000e+00> : tensor<1xf32>}
  // CHECK-NEXT: tosa.pad %{{.*}}, %[[AMOUNTS]], %[[ZERO]] :
  %3 = tosa.pad %2, %p : (tensor<4x24xf32>, tensor<2x2xi32>) -> tensor<5x24xf32>
  return %3 : tensor<5x24xf32>
}

// -----

// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<1x4x4x1xi8>) -> tensor<1x7x7x1xi32> {
  // CHECK:      tosa.const_shape {values = dense<[2, 1, 2, 1]>
  // CHECK-NEXT: tosa.const_shape {values = dense<0> : tensor<2xindex>}
  // CHECK-NEXT: tosa.const_shape {values = dense<0> : tensor<2xindex>}
  // CHECK-NEXT: tosa.resize %x, %{{.*}}, %{{.*}}, %{{.*}} {mode = BILINEAR}
  %0 = tosa.resize %x {scale = array<i64: 2, 1, 2, 1>, offset = array<i64: 0, 0>, border = array<i64: 0, 0>, mode = "BILINEAR"} : (tensor<1x4x4x1xi8>) -> tensor<1x7x7x1xi32>
  return %0 : tensor<1x7x7x1xi32>
}

// -----

// A permutation goes the other way: from an operand to an attribute.
// CHECK-LABEL: func.func @transpose
// CHECK:         tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<4x6xf32>)
func.func @transpose(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %p = "tosa.const"() <{value = dense<[1, 0]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %0 = tosa.transpose %x, %p : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

// Zero points of LLVM 19 (quantization_info) and of LLVM 20 (numbers) become operands.
// CHECK-LABEL: func.func @zero_points
func.func @zero_points(%x: tensor<1x4x4x2xi8>, %w: tensor<3x1x1x2xi8>, %b: tensor<3xi32>, %m: tensor<1x4x4xi8>) -> tensor<1x4x4xi32> {
  // CHECK:      %[[A:.*]] = tosa.const {values = dense<-128> : tensor<1xi8>}
  // CHECK-NEXT: %[[B:.*]] = tosa.const {values = dense<0> : tensor<1xi8>}
  // CHECK-NEXT: tosa.conv2d %x, %w, %b, %[[A]], %[[B]] {
  // CHECK-NOT:  quantization_info
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, quantization_info = #tosa.conv_quant<input_zp = -128, weight_zp = 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<3x1x1x2xi8>, tensor<3xi32>) -> tensor<1x4x4x3xi32>
  // CHECK:      tosa.const {values = dense<1> : tensor<1xi8>}
  // CHECK-NEXT: tosa.const {values = dense<2> : tensor<1xi8>}
  // CHECK-NEXT: tosa.avg_pool2d %x, %{{.*}}, %{{.*}} {acc_type = i32, kernel
  %1 = tosa.avg_pool2d %x {acc_type = i32, input_zp = 1 : i32, output_zp = 2 : i32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xi8>) -> tensor<1x2x2x2xi8>
  // CHECK:      tosa.const {values = dense<3> : tensor<1xi8>}
  // CHECK-NEXT: tosa.const {values = dense<4> : tensor<1xi8>}
  // CHECK-NEXT: tosa.matmul %m, %m, %{{.*}}, %{{.*}} :
  %2 = tosa.matmul %m, %m {quantization_info = #tosa.matmul_quant<a_zp = 3, b_zp = 4>} : (tensor<1x4x4xi8>, tensor<1x4x4xi8>) -> tensor<1x4x4xi32>
  // CHECK:      tosa.const {values = dense<5> : tensor<1xi8>}
  // CHECK-NEXT: tosa.pad %x, %{{.*}}, %{{.*}} :
  %p = tosa.const_shape {values = dense<0> : tensor<8xindex>} : () -> !tosa.shape<8>
  %3 = tosa.pad %x, %p {quantization_info = #tosa.pad_quant<input_zp = 5>} : (tensor<1x4x4x2xi8>, !tosa.shape<8>) -> tensor<1x4x4x2xi8>
  return %2 : tensor<1x4x4xi32>
}

// -----

// CHECK-LABEL: func.func @rescale
func.func @rescale(%x: tensor<2xi32>) -> tensor<2xi8> {
  // CHECK:      tosa.const {values = dense<[1073741824, 1073741825]> : tensor<2xi32>}
  // CHECK-NEXT: tosa.const {values = dense<[30, 31]> : tensor<2xi8>}
  // CHECK-NEXT: tosa.const {values = dense<0> : tensor<1xi32>}
  // CHECK-NEXT: tosa.const {values = dense<-1> : tensor<1xi8>}
  // CHECK-NEXT: tosa.rescale %x, %{{.*}} {per_channel = true, rounding_mode = DOUBLE_ROUND, scale32 = true}
  %0 = tosa.rescale %x {double_round = true, input_zp = 0 : i32, multiplier = array<i32: 1073741824, 1073741825>, output_zp = -1 : i32, per_channel = true, scale32 = true, shift = array<i8: 30, 31>} : (tensor<2xi32>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// -----

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%f: tensor<4xf16>, %i: tensor<4xi8>) -> tensor<1xf16> {
  // CHECK: tosa.clamp %f {max_val = 6.000000e+00 : f16, min_val = 0.000000e+00 : f16}
  %0 = tosa.clamp %f {max_fp = 6.0 : f32, max_int = 6 : i64, min_fp = 0.0 : f32, min_int = 0 : i64} : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: tosa.clamp %i {max_val = 127 : i8, min_val = -5 : i8}
  %1 = tosa.clamp %i {max_fp = 6.0 : f32, max_int = 600 : i64, min_fp = 0.0 : f32, min_int = -5 : i64} : (tensor<4xi8>) -> tensor<4xi8>
  // CHECK:      %[[SHIFT:.*]] = tosa.const {values = dense<0> : tensor<1xi8>}
  // CHECK-NEXT: tosa.mul %{{.*}}, %{{.*}}, %[[SHIFT]] :
  %2 = tosa.mul %0, %f {shift = 0 : i8} : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  // CHECK: tosa.maximum %{{.*}} {nan_mode = IGNORE}
  %3 = tosa.maximum %2, %f {nan_mode = "IGNORE"} : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  // CHECK: tosa.reduce_product
  %4 = tosa.reduce_prod %3 {axis = 0 : i32} : (tensor<4xf16>) -> tensor<1xf16>
  return %4 : tensor<1xf16>
}

// -----

// 64 bits hold what is accumulated in 48.
// CHECK-LABEL: func.func @i48
func.func @i48(%x: tensor<1x4x4x2xi16>, %w: tensor<3x1x1x2xi8>) -> tensor<1x4x4x3xi16> {
  // CHECK: tosa.const {values = dense<[1, -2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %b = "tosa.const"() <{values = dense<[1, -2, 3]> : tensor<3xi48>}> : () -> tensor<3xi48>
  // CHECK: tosa.conv2d {{.*}} -> tensor<1x4x4x3xi64>
  %0 = tosa.conv2d %x, %w, %b {acc_type = i48, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi16>, tensor<3x1x1x2xi8>, tensor<3xi48>) -> tensor<1x4x4x3xi48>
  // CHECK: tosa.rescale {{.*}} : (tensor<1x4x4x3xi64>, tensor<1xi16>
  %1 = tosa.rescale %0 {double_round = false, input_zp = 0 : i32, multiplier = array<i32: 20000>, output_zp = 0 : i32, per_channel = false, scale32 = false, shift = array<i8: 20>} : (tensor<1x4x4x3xi48>) -> tensor<1x4x4x3xi16>
  return %1 : tensor<1x4x4x3xi16>
}
