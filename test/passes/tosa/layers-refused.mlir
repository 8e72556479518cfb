// RUN: ingot-opt %s -p 'tosa-upgrade,tosa-to-linalg' --split-input-file --verify-diagnostics

// What the lowerings of products, poolings and quantized ops refuse.

func.func @matmul(%a: tensor<1x4x4xi8>) -> tensor<1x4x4xf32> {
  // expected-error@+1 {{to tensor<1x4x4xf32> is not defined by TOSA}}
  %0 = tosa.matmul %a, %a : (tensor<1x4x4xi8>, tensor<1x4x4xi8>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// -----

func.func @channels(%a: tensor<1x4x3xf32>) -> tensor<1x4x3xf32> {
  // expected-error@+1 {{tosa.matmul: the shapes of tensor<1x4x3xf32>, tensor<1x4x3xf32>, }}
  %0 = tosa.matmul %a, %a : (tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  return %0 : tensor<1x4x3xf32>
}

// -----

func.func @windows(%x: tensor<1x4x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x4x4x3xf32> {
  // expected-error@+1 {{tosa.conv2d: windows of 2 by stride 1 and dilation 1 over 4 padded elements do not make 4}}
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}

// -----

func.func @stride(%x: tensor<1x4x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x4x4x3xf32> {
  // expected-error@+1 {{tosa.conv2d needs strides and dilations of at least 1}}
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 0, 1>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}

// -----

func.func @pads(%x: tensor<1x4x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x4x4x3xf32> {
  // expected-error@+1 {{tosa.conv2d needs 4 numbers as 'pad', not 2}}
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}

// -----

func.func @strides(%x: tensor<1x4x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x4x4x3xf32> {
  // expected-error@+1 {{tosa.conv2d needs 2 numbers as 'stride', not 1}}
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}

// -----

func.func @depthwise(%x: tensor<1x4x4x2xf32>, %w: tensor<1x1x2x3xf32>, %b: tensor<5xf32>) -> tensor<1x4x4x5xf32> {
  // expected-error@+1 {{tosa.depthwise_conv2d makes 6 channels, not 5}}
  %0 = tosa.depthwise_conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>, tensor<5xf32>) -> tensor<1x4x4x5xf32>
  return %0 : tensor<1x4x4x5xf32>
}

// -----

func.func @out_pad(%x: tensor<1x4x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x3x5x3xf32> {
  // expected-error@+1 {{tosa.transpose_conv2d needs an out_pad above minus the kernel's size}}
  %0 = tosa.transpose_conv2d %x, %w, %b {out_pad = array<i64: -2, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x3x5x3xf32>
  return %0 : tensor<1x3x5x3xf32>
}

// -----

func.func @image(%x: tensor<1x4x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x6x5x3xf32> {
  // expected-error@+1 {{tosa.transpose_conv2d makes an image of [5, 5], not [6, 5]}}
  %0 = tosa.transpose_conv2d %x, %w, %b {out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x6x5x3xf32>
  return %0 : tensor<1x6x5x3xf32>
}

// -----

func.func @empty_window(%x: tensor<1x2x2x1xf32>) -> tensor<1x3x2x1xf32> {
  // expected-error@+1 {{tosa.avg_pool2d has a window that lies in the padding alone}}
  %0 = tosa.avg_pool2d %x {acc_type = f32, kernel = array<i64: 1, 1>, pad = array<i64: 1, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>) -> tensor<1x3x2x1xf32>
  return %0 : tensor<1x3x2x1xf32>
}

// -----

func.func @resize_lists(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  // expected-error@+1 {{tosa.resize needs 4 scales, 2 offsets and 2 borders}}
  %0 = tosa.resize %x {scale = array<i64: 1, 1>, offset = array<i64: 0, 0>, border = array<i64: 0, 0>, mode = "BILINEAR"} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----

func.func @resize_channels(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  // expected-error@+1 {{tosa.resize cannot make tensor<1x4x4x2xf32> of tensor<1x4x4x1xf32>}}
  %0 = tosa.resize %x {scale = array<i64: 1, 1, 1, 1>, offset = array<i64: 0, 0>, border = array<i64: 0, 0>, mode = "BILINEAR"} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

func.func @resize_scale(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  // expected-error@+1 {{tosa.resize by 0/1 is not defined}}
  %0 = tosa.resize %x {scale = array<i64: 0, 1, 1, 1>, offset = array<i64: 0, 0>, border = array<i64: 0, 0>, mode = "BILINEAR"} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----

func.func @resize_size(%x: tensor<1x4x4x1xf32>) -> tensor<1x9x4x1xf32> {
  // expected-error@+1 {{tosa.resize of 4 elements by 2/1, offset 0 and border 0 does not make 9}}
  %0 = tosa.resize %x {scale = array<i64: 2, 1, 1, 1>, offset = array<i64: 0, 0>, border = array<i64: 0, 0>, mode = "BILINEAR"} : (tensor<1x4x4x1xf32>) -> tensor<1x9x4x1xf32>
  return %0 : tensor<1x9x4x1xf32>
}

// -----

func.func @resize_type(%x: tensor<1x4x4x1xi8>) -> tensor<1x4x4x1xi32> {
  // expected-error@+1 {{to tensor<1x4x4x1xi32> is not defined by TOSA}}
  %0 = tosa.resize %x {scale = array<i64: 1, 1, 1, 1>, offset = array<i64: 0, 0>, border = array<i64: 0, 0>, mode = "NEAREST_NEIGHBOR"} : (tensor<1x4x4x1xi8>) -> tensor<1x4x4x1xi32>
  return %0 : tensor<1x4x4x1xi32>
}

// -----

func.func @multipliers(%x: tensor<4x3xi32>) -> tensor<4x3xi8> {
  // expected-error@+1 {{tosa.rescale needs 3 multipliers, not tensor<1xi32>}}
  %0 = tosa.rescale %x {double_round = false, input_zp = 0 : i32, multiplier = array<i32: 5>, output_zp = 0 : i32, per_channel = true, scale32 = true, shift = array<i8: 30, 30, 30>} : (tensor<4x3xi32>) -> tensor<4x3xi8>
  return %0 : tensor<4x3xi8>
}

// -----

func.func @shift(%x: tensor<4xi32>) -> tensor<4xi8> {
  // expected-error@+1 {{tosa.rescale by a shift of 63 is not defined: it is from 2 to 62}}
  %0 = tosa.rescale %x {double_round = false, input_zp = 0 : i32, multiplier = array<i32: 5>, output_zp = 0 : i32, per_channel = false, scale32 = true, shift = array<i8: 63>} : (tensor<4xi32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @twice(%x: tensor<4xi32>) -> tensor<4xi8> {
  // expected-error@+1 {{tosa.rescale rounds twice with scale32 = true alone}}
  %0 = tosa.rescale %x {double_round = true, input_zp = 0 : i32, multiplier = array<i32: 5>, output_zp = 0 : i32, per_channel = false, scale32 = false, shift = array<i8: 30>} : (tensor<4xi32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @i48(%x: tensor<4xi16>, %a: tensor<1x4x4xi16>) -> tensor<1x4x4xi8> {
  %0 = tosa.matmul %a, %a : (tensor<1x4x4xi16>, tensor<1x4x4xi16>) -> tensor<1x4x4xi48>
  // expected-error@+1 {{tosa.rescale of i48 needs scale32 = false: 80 bits hold the product}}
  %1 = tosa.rescale %0 {double_round = false, input_zp = 0 : i32, multiplier = array<i32: 5>, output_zp = 0 : i32, per_channel = false, scale32 = true, shift = array<i8: 30>} : (tensor<1x4x4xi48>) -> tensor<1x4x4xi8>
  return %1 : tensor<1x4x4xi8>
}

// -----

func.func @table(%x: tensor<4xi8>, %t: tensor<255xi8>) -> tensor<4xi8> {
  // expected-error@+1 {{tosa.table of i8 with tensor<255xi8> is not defined: i8 takes 256 entries, i16 takes 513}}
  %0 = tosa.table %x, %t : (tensor<4xi8>, tensor<255xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @fft(%x: tensor<1x4x4xi32>) -> (tensor<1x4x3xi32>, tensor<1x4x3xi32>) {
  // expected-error@+1 {{tosa.rfft2d of tensor<1x4x4xi32> is not defined: it takes floats}}
  %0, %1 = tosa.rfft2d %x : (tensor<1x4x4xi32>) -> (tensor<1x4x3xi32>, tensor<1x4x3xi32>)
  return %0, %1 : tensor<1x4x3xi32>, tensor<1x4x3xi32>
}

// -----

func.func @average(%x: tensor<1x2x2x1xi8>) -> tensor<1x2x2x1xi32> {
  // expected-error@+1 {{to tensor<1x2x2x1xi32> is not defined by TOSA}}
  %0 = tosa.avg_pool2d %x {acc_type = i32, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xi8>) -> tensor<1x2x2x1xi32>
  return %0 : tensor<1x2x2x1xi32>
}

// -----

func.func @rescale(%x: tensor<4xf32>) -> tensor<4xi8> {
  // expected-error@+1 {{to tensor<4xi8> is not defined by TOSA}}
  %0 = tosa.rescale %x {double_round = false, input_zp = 0 : i32, multiplier = array<i32: 5>, output_zp = 0 : i32, per_channel = false, scale32 = true, shift = array<i8: 30>} : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @table_result(%x: tensor<4xi8>, %t: tensor<256xi8>) -> tensor<4xi16> {
  // expected-error@+1 {{to tensor<4xi16> is not defined by TOSA}}
  %0 = tosa.table %x, %t : (tensor<4xi8>, tensor<256xi8>) -> tensor<4xi16>
  return %0 : tensor<4xi16>
}

// -----

func.func @apply_scale(%x: tensor<4xf32>, %m: tensor<4xi32>, %s: tensor<4xi8>) -> tensor<4xi32> {
  // expected-error@+1 {{to tensor<4xi32> is not defined by TOSA}}
  %0 = tosa.apply_scale %x, %m, %s {double_round = true} : (tensor<4xf32>, tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
