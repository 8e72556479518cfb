// RUN: ingot-opt %s --split-input-file --verify-diagnostics -p 'convert-to-spirv'

// expected-error@+1 {{argument `x` of a kernel holds f64, a type that kernels cannot compute with}}
func.func @double(%x: memref<8xf64>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 8, 1, 1>} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<8xf64>
  memref.store %v, %x[%t] : memref<8xf64>
  return
}

// -----

func.func @unknown(%x: memref<8xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 8, 1, 1>} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<8xf32>
  // expected-error@+1 {{`arith.maximumf` cannot be converted to SPIR-V}}
  %r = arith.maximumf %v, %v : f32
  memref.store %r, %x[%t] : memref<8xf32>
  return
}

// -----

func.func @eight(%x: memref<8xf16>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 8, 1, 1>} {
  %i = arith.constant 0 : index
  %one = arith.constant 1.0 : f16
  // expected-error@+1 {{a vector of eight equal elements other than zero}}
  %v = vector.broadcast %one : f16 to vector<8xf16>
  vector.store %v, %x[%i] : memref<8xf16>, vector<8xf16>
  return
}
