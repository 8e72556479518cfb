// RUN: ingot-opt %s -p 'convert-stablehlo' --split-input-file --verify-diagnostics

func.func @unknown_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.custom_call @lapack_sgetrf calls code that is not in the program}}
  %0 = stablehlo.custom_call @lapack_sgetrf(%x) {backend_config = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @dynamic(%x: tensor<?x4xcomplex<f32>>) -> tensor<?x4xcomplex<f32>> {
  // expected-error@+1 {{stablehlo.fft of dynamic shape is not supported yet}}
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<?x4xcomplex<f32>>) -> tensor<?x4xcomplex<f32>>
  return %0 : tensor<?x4xcomplex<f32>>
}

// -----

func.func @sized_by_data(%x: tensor<f32>, %n: tensor<1xi32>) -> tensor<?xf32> {
  // expected-error@+1 {{stablehlo.dynamic_broadcast_in_dim by numbers that the device computes is not supported}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @resized(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.set_dimension_size is not supported: the size of a tensor cannot change}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{argument 0 of quantized with the quantized type tensor<4x!quant.uniform<i8:f32, 0.5>> is not supported}}
func.func @quantized(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{argument 0 of wide_complex with a tensor<4xcomplex<f64>> is not supported: complex numbers are complex<f32>}}
func.func @wide_complex(%x: tensor<4xcomplex<f64>>) -> tensor<4xf64> {
  %0 = stablehlo.real %x : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @complex_function(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error@+1 {{stablehlo.cbrt of complex numbers is not supported}}
  %0 = stablehlo.cbrt %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @ordered_complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xi1> {
  // expected-error@+1 {{stablehlo.compare LT of complex numbers is not defined}}
  %0 = stablehlo.compare LT, %x, %x : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @collective(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.all_gather is not supported: programs run on one device}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @token(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.create_token of a !stablehlo.token is not supported: programs run on one device, and take and return tensors only}}
  %0 = stablehlo.create_token : !stablehlo.token
  return %x : tensor<4xf32>
}

// -----

func.func @random(%a: tensor<f32>, %b: tensor<f32>) -> tensor<2xf32> {
  %s = stablehlo.constant dense<2> : tensor<1xi64>
  // expected-error@+1 {{stablehlo.rng is not supported: its numbers are not defined}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @tensors_in_a_body(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error@+1 {{stablehlo.broadcast_in_dim of tensors inside stablehlo.reduce is not supported}}
    %1 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<2xf32>
    stablehlo.return %b : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

func.func @computed_padding(%x: tensor<4xf32>, %z: tensor<f32>, %n: tensor<1xi64>) -> tensor<5xf32> {
  // expected-error@+1 {{stablehlo.dynamic_pad by numbers that the device computes is not supported}}
  %0 = stablehlo.dynamic_pad %x, %z, %n, %n, %n : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @threefry(%s: tensor<3xui64>) -> tensor<2xui32> {
  // expected-error@+1 {{stablehlo.rng_bit_generator by THREE_FRY with a state of tensor<3xui64> is not supported}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2xui32>)
  return %1 : tensor<2xui32>
}

// -----

func.func @bits_of_complex(%x: tensor<4xcomplex<f32>>) -> tensor<4x2xi32> {
  // expected-error@+1 {{stablehlo.bitcast_convert of complex numbers is not supported}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xcomplex<f32>>) -> tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}

// -----

func.func @lapack(%x: tensor<4x4xf32>) -> tensor<4xi32> {
  // expected-error@+1 {{stablehlo.custom_call @lapack_sgetrf_ffi calls code that is not in the program}}
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) {backend_config = ""} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  return %0#1 : tensor<4xi32>
}


// -----

func.func @unpaired(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{'stablehlo.dot_general' op pairs 0 and 1 contracting dimensions}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @not_there(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{'stablehlo.dot_general' op needs different contracting dimensions of 0 to 1, but has [2]}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @unequal(%x: tensor<4x8xf32>, %w: tensor<7x3xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{'stablehlo.dot_general' op pairs dimensions of 8 and 7 elements}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<7x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Composites are expanded by a pass before this one.
func.func @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stablehlo.composite is not supported yet}}
  %0 = stablehlo.composite "lib.f" %x {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @top_without_k(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{stablehlo.custom_call @mhlo.topk needs `k`}}
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {largest = true}} : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return
}

// -----

func.func @top_of_too_few(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{stablehlo.custom_call @mhlo.topk cannot take 7 of 6 elements}}
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 7 : i64}} : (tensor<4x6xf32>) -> (tensor<4x7xf32>, tensor<4x7xi32>)
  return
}

// -----

func.func @not_square(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{stablehlo.custom_call @lapack_spotrf_ffi needs square matrices, but has tensor<4x6xf32>}}
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<i32>)
  return
}

// -----

func.func @which_triangle(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{stablehlo.custom_call @lapack_spotrf_ffi cannot have 77 for `uplo`}}
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 77 : ui8}} : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<i32>)
  return
}
