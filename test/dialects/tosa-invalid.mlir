// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @too_few(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{takes 2 operands, but has 1}}
  %0 = tosa.add %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @too_many(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{takes 1 to 3 operands, but has 4}}
  %0 = tosa.negate %x, %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @results(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  // expected-error@+1 {{has 2 results, but 1 types}}
  %0 = tosa.fft2d %x, %x {inverse = false} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// -----

func.func @missing(%x: tensor<4xf32>) -> tensor<1xf32> {
  // expected-error@+1 {{needs the attribute 'axis'}}
  %0 = tosa.reduce_sum %x : (tensor<4xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

func.func @word(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{nan_mode must be one of PROPAGATE, IGNORE}}
  %0 = tosa.maximum %x, %x {nan_mode = SOMETIMES} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @word_attribute(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected one of PROPAGATE, IGNORE}}
  %0 = tosa.maximum %x, %x {nan_mode = #tosa.nan_mode<SOMETIMES>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @quantization(%x: tensor<4xi8>) -> tensor<4xi8> {
  // expected-error@+1 {{expected one of input_zp, output_zp}}
  %0 = tosa.negate %x {quantization_info = #tosa.unary_quant<a_zp = 1>} : (tensor<4xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the regions must take the values of the loop}}
  %0 = "tosa.while_loop"(%x) ({
    %c = "tosa.const"() <{values = dense<true> : tensor<i1>}> : () -> tensor<i1>
    tosa.yield %c : tensor<i1>
  }, {
  ^bb0(%v: tensor<4xf32>):
    tosa.yield %v : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tosa.sqrt' is not an op that Ingot knows in the dialect 'tosa'}}
  %0 = tosa.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'tosa.variable': variables keep values from call to call, which functions of a bundle cannot}}
tosa.variable @v = dense<1.0> : tensor<4xf32>

// -----

func.func @computed_shape(%s: !tosa.shape<2>) {
  // expected-error@+1 {{'tosa.add_shape': shapes that are computed are not supported}}
  %0 = tosa.add_shape %s, %s : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

// -----

func.func @inputs(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the regions must take the inputs}}
  %0 = "tosa.cond_if"(%c, %x) ({
    tosa.yield %x : tensor<4xf32>
  }, {
    tosa.yield %x : tensor<4xf32>
  }) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
