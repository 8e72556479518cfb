// RUN: ingot-opt %s -p 'tosa-upgrade' --split-input-file --verify-diagnostics

func.func @constant() -> tensor<4xf32> {
  // expected-error@+1 {{tosa.const needs the attribute 'values' with its elements}}
  %0 = "tosa.const"() : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @reshape(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  // expected-error@+1 {{tosa.reshape needs 'new_shape' as an operand or an attribute}}
  %0 = tosa.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @transpose(%x: tensor<4x6xf32>, %p: tensor<2xi32>) -> tensor<6x4xf32> {
  // expected-error@+1 {{the permutation of tosa.transpose is computed at run time}}
  %0 = tosa.transpose %x, %p : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @no_permutation(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  // expected-error@+1 {{tosa.transpose needs 'perms' as an operand or an attribute}}
  %0 = tosa.transpose %x : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @pad(%x: tensor<4xf32>, %p: tensor<1x2xi32>) -> tensor<6xf32> {
  // expected-error@+1 {{the padding of tosa.pad is computed at run time}}
  %0 = tosa.pad %x, %p : (tensor<4xf32>, tensor<1x2xi32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

func.func @clamp(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{tosa.clamp needs 'min_val' of type f32}}
  %0 = tosa.clamp %x {min_int = 0 : i64, max_int = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @rescale(%x: tensor<4xi32>) -> tensor<4xi8> {
  // expected-error@+1 {{tosa.rescale needs 'shift' as an operand or an attribute}}
  %0 = tosa.rescale %x {scale32 = true, per_channel = false, multiplier = array<i32: 5>} : (tensor<4xi32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// expected-error@+1 {{wide takes or returns i48, which no buffer holds}}
func.func @wide(%x: tensor<4xi48>) -> tensor<4xi48> {
  %0 = tosa.identity %x : (tensor<4xi48>) -> tensor<4xi48>
  return %0 : tensor<4xi48>
}
