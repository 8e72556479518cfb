// RUN: ingot-opt %s -p 'verify-supported' --split-input-file --verify-diagnostics

// expected-error@+1 {{argument 0 of scalar is a f32, but arguments must be ranked tensors}}
func.func @scalar(%x: f32) {
  return
}

// -----

// expected-error@+1 {{elements of type f64 are not supported}}
func.func @wide(%x: tensor<4xf64>) {
  return
}

// -----

// expected-error@+1 {{indices on the device are 32-bit: the most is 2147483647}}
func.func @large(%x: tensor<65536x65536xi8>) {
  return
}

// -----

func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    // expected-error@+1 {{test.op is not supported}}
    %1 = "test.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{function blocks has branches between blocks, which is not supported}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

// -----

func.func @call_in_a_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    // expected-error@+1 {{tensor.splat inside linalg.generic is not supported}}
    %s = tensor.splat %a : tensor<2xf32>
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
