// RUN: ingot-opt %s --verify-diagnostics -p 'expand-narrow-types'

func.func @eight(%x: memref<8xbf16>) attributes {ingot.kernel} {
  %i = arith.constant 0 : index
  %one = arith.constant 1.0 : bf16
  // expected-error@+1 {{a vector of eight equal bf16 other than zero}}
  %v = vector.broadcast %one : bf16 to vector<8xbf16>
  vector.store %v, %x[%i] : memref<8xbf16>, vector<8xbf16>
  return
}
