// RUN: ingot-opt %s -p 'outline-control-flow' --split-input-file --verify-diagnostics

func.func @backwards(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %m1 = arith.constant -1 : index
  // expected-error@+1 {{scf.for with a step of -1 is not supported}}
  %r = scf.for %i = %c0 to %m1 step %m1 iter_args(%a = %x) -> (tensor<8xf32>) {
    scf.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @far(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4294967296 : index
  // expected-error@+1 {{scf.for from 0 to 4294967296 is not supported: an index on the device has 32 bits}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<8xf32>) {
    scf.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
