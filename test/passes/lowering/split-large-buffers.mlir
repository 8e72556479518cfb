// RUN: ingot-opt %s -p 'split-large-buffers{max-binding=2048 max-buffers=8}' | filecheck %s

// A buffer of 4096 bytes falls into two parts of 16 rows; each access asks which one its row is in.
// CHECK-LABEL: func.func private @rows
// CHECK-SAME:    (%m: memref<16x32xf32>, %m_1: memref<16x32xf32>, %out: memref<4xf32>)
// CHECK-SAME:    ingot.names = ["m", "m_1", "out"]
// CHECK-SAME:    ingot.parts = array<i64: 2, 1>
// CHECK:         %[[SIZE:.*]] = arith.constant 16 : index
// CHECK:         %[[FIRST:.*]] = arith.cmpi slt, %i, %[[SIZE]]
// CHECK:         scf.if %[[FIRST]] -> (vector<4xf32>)
// CHECK-NEXT:      vector.load %m[%i, %j]
// CHECK:         } else {
// CHECK:           %[[ROW:.*]] = arith.subi %i, %{{.*}}
// CHECK-NEXT:      vector.load %m_1[%[[ROW]], %j]
func.func private @rows(%m: memref<32x32xf32>, %out: memref<4xf32>) attributes {ingot.kernel, ingot.names = ["m", "out"]} {
  %i = gpu.block_id x
  %j = arith.constant 0 : index
  %0 = vector.load %m[%i, %j] : memref<32x32xf32>, vector<4xf32>
  vector.store %0, %out[%j] : memref<4xf32>, vector<4xf32>
  func.return
}

// Where rows are single elements a vector is taken lane by lane: it may reach into the next part.
// CHECK-LABEL: func.func private @elements
// CHECK-SAME:    (%m: memref<512xf32>, %m_1: memref<512xf32>, %m_2: memref<76xf32>)
// CHECK-COUNT-4: memref.store {{.*}} %m_2
// CHECK-NOT:     vector.store
func.func private @elements(%m: memref<1100xf32>) attributes {ingot.kernel, ingot.names = ["m"]} {
  %i = gpu.block_id x
  %0 = arith.constant dense<1.0> : vector<4xf32>
  vector.store %0, %m[%i] : memref<1100xf32>, vector<4xf32>
  func.return
}

// CHECK-LABEL: plan.program @main
// CHECK:         plan.dispatch @rows [#plan.range<constant 0, 256 : 2048>, #plan.range<constant 0, 2304 : 2048>, #plan.range<result 0, 0 : 16>] reads 2
// CHECK:         plan.dispatch @elements [#plan.range<transient 0, 0 : 2048>, #plan.range<transient 0, 2048 : 2048>, #plan.range<transient 0, 4096 : 304>] reads 0
plan.program @main () -> tensor<4xf32> transient 4400 lower_bound 4400 arguments [] results ["r"] {
  plan.dispatch @rows [#plan.range<constant 0, 256 : 4096>, #plan.range<result 0, 0 : 16>] reads 1
  plan.dispatch @elements [#plan.range<transient 0, 0 : 4400>] reads 0
}
