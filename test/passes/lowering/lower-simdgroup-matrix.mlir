// RUN: ingot-opt %s -p 'lower-simdgroup-matrix' | filecheck %s

// One function for each type; its portable body gathers a row and two columns by shuffles.
// CHECK-LABEL: func.func @half
// CHECK: %[[D:.*]] = func.call @ingot_multiply_accumulate_f16(%[[A:.*]], %[[B:.*]], %[[C:.*]]) : (vector<2xf16>, vector<2xf16>, vector<2xf32>) -> vector<2xf32>
// CHECK: func.call @ingot_multiply_accumulate_f16(%[[A]], %[[B]], %[[D]])
func.func @half(%in: memref<64x2xf16>, %out: memref<2xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 32, 1, 1>} {
  %i = arith.constant 0 : index
  %a = vector.load %in[%i, %i] : memref<64x2xf16>, vector<2xf16>
  %c = vector.load %out[%i] : memref<2xf32>, vector<2xf32>
  %d = simdgroup.multiply_accumulate %a, %a, %c : vector<2xf16>
  %e = simdgroup.multiply_accumulate %a, %a, %d : vector<2xf16>
  vector.store %e, %out[%i] : memref<2xf32>, vector<2xf32>
  func.return
}

// bf16 travels as its bits.
// CHECK-LABEL: func.func @brain
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<2xbf16> to vector<2xi16>
// CHECK: func.call @ingot_multiply_accumulate_bf16(%[[BITS]], %{{.*}}, %{{.*}}) : (vector<2xi16>, vector<2xi16>, vector<2xf32>) -> vector<2xf32>
func.func @brain(%in: memref<64x2xbf16>, %out: memref<2xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 32, 1, 1>} {
  %i = arith.constant 0 : index
  %a = vector.load %in[%i, %i] : memref<64x2xbf16>, vector<2xbf16>
  %c = vector.load %out[%i] : memref<2xf32>, vector<2xf32>
  %d = simdgroup.multiply_accumulate %a, %a, %c : vector<2xbf16>
  vector.store %d, %out[%i] : memref<2xf32>, vector<2xf32>
  func.return
}

// CHECK: func.func private @ingot_multiply_accumulate_f16(%a: vector<2xf16>, %b: vector<2xf16>, %c: vector<2xf32>) -> vector<2xf32>
// CHECK: arith.extf %a : vector<2xf16> to vector<2xf32>
// CHECK: gpu.lane_id
// CHECK-COUNT-24: gpu.shuffle idx
// CHECK: func.func private @ingot_multiply_accumulate_bf16(%a: vector<2xi16>
