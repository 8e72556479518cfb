// RUN: ingot-opt %s -p 'expand-narrow-types{target="metal:apple7"}' | filecheck %s

func.func @booleans(%x: memref<8xi1>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<8xi1>
  memref.store %v, %x[%t] : memref<8xi1>
  return
}
// CHECK-LABEL: func.func @booleans(%x: memref<8xi8>)
// CHECK:      %[[B:.*]] = memref.load %x[%t] : memref<8xi8>
// CHECK:      %v = arith.cmpi ne, %[[B]], %{{.*}} : i8
// CHECK:      %[[S:.*]] = arith.select %v, %{{.*}}, %{{.*}} : i8
// CHECK-NEXT: memref.store %[[S]], %x[%t] : memref<8xi8>

// A bf16 value is the f32 of the same number; each result is rounded, comparisons are not.
func.func @brain_float(%x: memref<8xbf16>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<8xbf16>
  %half = arith.constant 0.5 : bf16
  %p = arith.mulf %v, %half : bf16
  %less = arith.cmpf olt, %p, %v : bf16
  %r = arith.select %less, %p, %v : bf16
  memref.store %r, %x[%t] : memref<8xbf16>
  return
}
// CHECK-LABEL: func.func @brain_float(%x: memref<8xi16>)
// CHECK:      %[[W:.*]] = arith.extui %{{.*}} : i16 to i32
// CHECK:      %[[S:.*]] = arith.shli %[[W]], %{{.*}} : i32
// CHECK-NEXT: %v = arith.bitcast %[[S]] : i32 to f32
// CHECK:      %[[P:.*]] = arith.mulf %v, %half : f32
// CHECK-NEXT: %[[R:.*]] = func.call @ingot_round_to_bf16_f32(%[[P]]) : (f32) -> f32
// CHECK-NEXT: %less = arith.cmpf olt, %[[R]], %v : f32
// CHECK-NEXT: %r = arith.select %less, %[[R]], %v : f32
// CHECK:      memref.store %{{.*}}, %x[%t] : memref<8xi16>

func.func @conversions(%x: memref<8xbf16>, %y: memref<8xf32>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<8xbf16>
  %w = arith.extf %v : bf16 to f32
  memref.store %w, %y[%t] : memref<8xf32>
  %n = arith.truncf %w : f32 to bf16
  memref.store %n, %x[%t] : memref<8xbf16>
  return
}
// CHECK-LABEL: func.func @conversions
// CHECK:      %v = arith.bitcast %{{.*}} : i32 to f32
// CHECK-NEXT: memref.store %v, %y[%t] : memref<8xf32>
// CHECK:      func.call @ingot_round_to_bf16_f32(%v)

func.func @indices(%x: memref<8xindex>) attributes {ingot.kernel} {
  %t = gpu.thread_id x
  memref.store %t, %x[%t] : memref<8xindex>
  return
}
// CHECK-LABEL: func.func @indices(%x: memref<8xi64>)
// CHECK:      arith.index_cast %t : index to i64

// Eight bf16 at once are only copied, zeros included: they stay the bits that they are.
// CHECK-LABEL: func.func @copied
// CHECK: %[[V:.*]] = vector.load %{{.*}} : memref<16xi16>, vector<8xi16>
// CHECK: arith.select %{{.*}}, %[[V]], %{{.*}} : vector<8xi16>
// CHECK: vector.store %{{.*}} : memref<16xi16>, vector<8xi16>
func.func @copied(%m: memref<16xbf16>, %o: memref<16xbf16>, %b: memref<1xi1>) attributes {ingot.kernel} {
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %c = memref.load %b[%i] : memref<1xi1>
  %zeros = vector.broadcast %zero : bf16 to vector<8xbf16>
  %v = vector.load %m[%i] : memref<16xbf16>, vector<8xbf16>
  %s = arith.select %c, %v, %zeros : vector<8xbf16>
  vector.store %s, %o[%i] : memref<16xbf16>, vector<8xbf16>
  func.return
}
