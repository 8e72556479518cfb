// RUN: ingot-opt %s -p 'check-loops{most-turns=65535}' --verify-diagnostics

// expected-error@+1 {{a thread of kernel nested has 90300 turns of loops, but the driver ends them at 65535}}
func.func @nested(%x: memref<300x300xf32>, %y: memref<f32>) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c300 step %c1 iter_args(%a = %zero) -> (f32) {
    %s = scf.for %j = %c0 to %c300 step %c1 iter_args(%b = %a) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<300x300xf32>
      %t = arith.addf %b, %v : f32
      scf.yield %t : f32
    }
    scf.yield %s : f32
  }
  memref.store %r, %y[] : memref<f32>
  return
}
