// RUN: ingot-opt %s -p 'tosa-upgrade,tosa-to-linalg' --split-input-file --verify-diagnostics

func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{tosa.reverse of the dynamic shape tensor<?x4xf32> is not supported}}
  %0 = tosa.reverse %x {axis = 1 : i32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @mixed(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{tosa.reshape from tensor<?x4xf32> to tensor<?xf32> mixes sizes that a call decides}}
  %0 = tosa.reshape %x {new_shape = array<i64: -1>} : (tensor<?x4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @nobody_knows(%x: tensor<1x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{no operand has the unknown size of tensor<?x4xf32>}}
  %0 = tosa.floor %x : (tensor<1x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error@+1 {{tosa.floor of tensor<*xf32> is not supported: the rank must be known}}
  %0 = tosa.floor %x : (tensor<*xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @quantized(%x: tensor<4x!quant.uniform<i8:f32, 0.1:-1>>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-1>> {
  // expected-error@+1 {{elements of a type of another dialect are not supported}}
  %0 = tosa.identity %x : (tensor<4x!quant.uniform<i8:f32, 0.1:-1>>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-1>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.1:-1>>
}

// -----

func.func @signed(%x: tensor<4xui8>) -> tensor<4xui8> {
  // expected-error@+1 {{tosa.add of tensor<4xui8>: integers with a sign in their type are not supported}}
  %0 = tosa.add %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

func.func @custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{tosa.custom: the operator 'polish' of the domain 'vendor' is not known}}
  %0 = tosa.custom %x {operator_name = "polish", domain_name = "vendor", implementation_attrs = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @broadcast(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{tosa.add: an operand of shape 4x2 cannot be broadcast to 4x3}}
  %0 = tosa.add %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @not_defined(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{tosa.exp of tensor<4xi32> to tensor<4xi32> is not defined by TOSA}}
  %0 = tosa.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @result_type(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error@+1 {{tosa.identity computes a tensor<4xf32>, not a tensor<4xi32>}}
  %0 = tosa.identity %x : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @elements(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error@+1 {{tosa.floor of tensor<4xf32> to tensor<4xi32> is not defined by TOSA}}
  %0 = tosa.floor %x : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @clamp(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{tosa.clamp needs a number as 'min_val', not "low"}}
  %0 = tosa.clamp %x {min_val = "low", max_val = 1.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @mul_shift(%x: tensor<4xi8>) -> tensor<4xi32> {
  %s = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error@+1 {{tosa.mul of i8 by a shift of 3 is not defined}}
  %0 = tosa.mul %x, %x, %s : (tensor<4xi8>, tensor<4xi8>, tensor<1xi8>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @mul_run_time(%x: tensor<4xi32>, %s: tensor<1xi8>) -> tensor<4xi32> {
  // expected-error@+1 {{the shift of tosa.mul is computed at run time, which is not supported}}
  %0 = tosa.mul %x, %x, %s : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @zero_point(%x: tensor<4xi8>, %z: tensor<1xi8>) -> tensor<4xi8> {
  // expected-error@+1 {{the input zero point of tosa.negate is computed at run time}}
  %0 = tosa.negate %x, %z, %z : (tensor<4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @zero_points(%x: tensor<4xi8>) -> tensor<4xi8> {
  %z = "tosa.const"() <{values = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2xi8>
  // expected-error@+1 {{the input zero point of tosa.negate must have one element, but has 2}}
  %0 = tosa.negate %x, %z, %z : (tensor<4xi8>, tensor<2xi8>, tensor<2xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @axis(%x: tensor<4xf32>) -> tensor<1xf32> {
  // expected-error@+1 {{tosa.reduce_sum: tensor<4xf32> has no axis 1}}
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

func.func @reduced(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{tosa.reduce_sum of tensor<4x3xf32> along axis 1 does not make tensor<4xf32>}}
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @truth(%x: tensor<4xi1>) -> tensor<1xi1> {
  // expected-error@+1 {{tosa.reduce_sum of tensor<4xi1> to tensor<1xi1> is not defined by TOSA}}
  %0 = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<4xi1>) -> tensor<1xi1>
  return %0 : tensor<1xi1>
}

// -----

func.func @argmax(%x: tensor<4x3xf32>) -> tensor<3xi32> {
  // expected-error@+1 {{tosa.argmax: the shapes of tensor<4x3xf32>, tensor<3xi32> do not fit together}}
  %0 = tosa.argmax %x {axis = 1 : i32} : (tensor<4x3xf32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----

func.func @reshape(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{tosa.reshape from tensor<4xf32> to tensor<3xf32> changes the elements}}
  %0 = tosa.reshape %x {new_shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @transpose(%x: tensor<4x3xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{[1, 1] is not a permutation of 2 dimensions}}
  %0 = tosa.transpose %x {perms = array<i32: 1, 1>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @slice(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{tosa.slice at [2] of tensor<3xf32> is outside of tensor<4xf32>}}
  %0 = tosa.slice %x {start = array<i64: 2>, size = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @slice_run_time(%x: tensor<4xf32>, %s: !tosa.shape<1>) -> tensor<3xf32> {
  // expected-error@+1 {{the start of tosa.slice is computed at run time}}
  %0 = tosa.slice %x, %s, %s : (tensor<4xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @concat(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<8x2xf32> {
  // expected-error@+1 {{tosa.concat of tensor<4x2xf32>, tensor<4x3xf32> along 0 does not make tensor<8x2xf32>}}
  %0 = tosa.concat %x, %y {axis = 0 : i32} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

func.func @concat_ranks(%x: tensor<4x2xf32>, %y: tensor<4xf32>) -> tensor<8x2xf32> {
  // expected-error@+1 {{tosa.concat of tensor<4x2xf32>, tensor<4xf32> along 1 does not make tensor<8x2xf32>}}
  %0 = tosa.concat %x, %y {axis = 1 : i32} : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

func.func @tile(%x: tensor<4xf32>) -> tensor<6xf32> {
  // expected-error@+1 {{tosa.tile cannot make tensor<6xf32> of tensor<4xf32>}}
  %0 = tosa.tile %x {multiples = array<i64: 2>} : (tensor<4xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

func.func @pad_amounts(%x: tensor<4xf32>) -> tensor<6xf32> {
  %p = tosa.const_shape {values = dense<1> : tensor<4xindex>} : () -> !tosa.shape<4>
  // expected-error@+1 {{tosa.pad of rank 1 needs 2 amounts, not 4}}
  %0 = tosa.pad %x, %p : (tensor<4xf32>, !tosa.shape<4>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

func.func @pad_negative(%x: tensor<4xf32>) -> tensor<2xf32> {
  %p = tosa.const_shape {values = dense<-1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error@+1 {{tosa.pad by a negative amount is not defined}}
  %0 = tosa.pad %x, %p : (tensor<4xf32>, !tosa.shape<2>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @pad_result(%x: tensor<4xf32>) -> tensor<7xf32> {
  %p = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error@+1 {{tosa.pad by [1, 1] does not make tensor<7xf32>}}
  %0 = tosa.pad %x, %p : (tensor<4xf32>, !tosa.shape<2>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

func.func @gather(%v: tensor<2x5x3xf32>, %i: tensor<1x4xi32>) -> tensor<1x4x3xf32> {
  // expected-error@+1 {{tosa.gather from tensor<2x5x3xf32> does not make tensor<1x4x3xf32>}}
  %0 = tosa.gather %v, %i : (tensor<2x5x3xf32>, tensor<1x4xi32>) -> tensor<1x4x3xf32>
  return %0 : tensor<1x4x3xf32>
}

// -----

func.func @rank(%v: tensor<5x3xf32>, %i: tensor<1x4xi32>) -> tensor<1x4x3xf32> {
  // expected-error@+1 {{tosa.gather takes a tensor of rank 3 here, not tensor<5x3xf32>}}
  %0 = tosa.gather %v, %i : (tensor<5x3xf32>, tensor<1x4xi32>) -> tensor<1x4x3xf32>
  return %0 : tensor<1x4x3xf32>
}

// -----

func.func @sizes() -> !tosa.shape<1> {
  // expected-error@+1 {{a list of sizes is used by an op that takes tensors}}
  %0 = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  return %0 : !tosa.shape<1>
}

// -----

func.func @two_types(%x: tensor<4xf32>, %y: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error@+1 {{tosa.add of tensor<4xf32>, tensor<4xi32> to tensor<4xf32> is not defined by TOSA}}
  %0 = tosa.add %x, %y : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @condition(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{tosa.select of tensor<4xf32>, tensor<4xf32>, tensor<4xf32> to tensor<4xf32> is not defined}}
  %0 = tosa.select %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @mul_type(%x: tensor<4xi8>) -> tensor<4xf32> {
  // expected-error@+1 {{to tensor<4xf32> is not defined by TOSA}}
  %0 = tosa.mul %x, %x {shift = 0 : i8} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @argmax_type(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{tosa.argmax of tensor<4x3xf32> to tensor<4xf32> is not defined by TOSA}}
  %0 = tosa.argmax %x {axis = 1 : i32} : (tensor<4x3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @pad_value(%x: tensor<4xf32>, %v: tensor<1xi32>) -> tensor<6xf32> {
  %p = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error@+1 {{tosa.pad of tensor<4xf32>, !tosa.shape<2>, tensor<1xi32> to tensor<6xf32> is not defined}}
  %0 = tosa.pad %x, %p, %v : (tensor<4xf32>, !tosa.shape<2>, tensor<1xi32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

func.func @gather_by(%v: tensor<1x5x3xf32>, %i: tensor<1x4xf32>) -> tensor<1x4x3xf32> {
  // expected-error@+1 {{to tensor<1x4x3xf32> is not defined by TOSA}}
  %0 = tosa.gather %v, %i : (tensor<1x5x3xf32>, tensor<1x4xf32>) -> tensor<1x4x3xf32>
  return %0 : tensor<1x4x3xf32>
}

// -----

func.func @scatter_by(%v: tensor<1x5x3xf32>, %i: tensor<1x4xf32>, %u: tensor<1x4x3xf32>) -> tensor<1x5x3xf32> {
  // expected-error@+1 {{to tensor<1x5x3xf32> is not defined by TOSA}}
  %0 = tosa.scatter %v, %i, %u : (tensor<1x5x3xf32>, tensor<1x4xf32>, tensor<1x4x3xf32>) -> tensor<1x5x3xf32>
  return %0 : tensor<1x5x3xf32>
}
