// RUN: ingot-opt %s -p 'cse' --split-input-file --allow-unregistered-dialect | filecheck %s

// Equal ops become one, also where the second lies deeper; of constants, -0.0 is another than 0.0.
// CHECK-LABEL: func.func @equal
// CHECK-NEXT:    %0 = arith.addi %x, %y : i32
// CHECK-NEXT:    %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %2 = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:    scf.if %c {
// CHECK-NEXT:      "test.op"(%0, %0) : (i32, i32) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    "test.op"(%1, %2, %1) : (f32, f32, f32) -> ()
func.func @equal(%x: i32, %y: i32, %c: i1) {
  %0 = arith.addi %x, %y : i32
  %1 = arith.constant 0.0 : f32
  %2 = arith.constant -0.0 : f32
  scf.if %c {
    %3 = arith.addi %x, %y : i32
    "test.op"(%0, %3) : (i32, i32) -> ()
  }
  %4 = arith.constant 0.0 : f32
  "test.op"(%1, %2, %4) : (f32, f32, f32) -> ()
  return
}

// -----

// What a region computes is not there after it, and dead ops go.
// CHECK-LABEL: func.func @scopes
// CHECK-NEXT:    scf.if %c {
// CHECK-NEXT:      %0 = arith.addi %x, %x : i32
// CHECK-NEXT:      "test.op"(%0) : (i32) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = arith.addi %x, %x : i32
// CHECK-NEXT:    return %1 : i32
func.func @scopes(%x: i32, %c: i1) -> i32 {
  %dead = arith.muli %x, %x : i32
  scf.if %c {
    %0 = arith.addi %x, %x : i32
    "test.op"(%0) : (i32) -> ()
  }
  %1 = arith.addi %x, %x : i32
  return %1 : i32
}

// -----

// Loads are equal until something may write, in a region too.
// CHECK-LABEL: func.func @loads
// CHECK-NEXT:    %0 = memref.load %m[%i] : memref<4xf32>
// CHECK-NEXT:    "test.op"
// CHECK-NEXT:    %1 = memref.load %m[%i] : memref<4xf32>
// CHECK-NEXT:    scf.if %c {
// CHECK-NEXT:      memref.store %1, %m[%i] : memref<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = memref.load %m[%i] : memref<4xf32>
// CHECK-NEXT:    return %1, %1, %2
func.func @loads(%m: memref<4xf32>, %i: index, %c: i1) -> (f32, f32, f32) {
  %0 = memref.load %m[%i] : memref<4xf32>
  "test.op"(%0) : (f32) -> ()
  %1 = memref.load %m[%i] : memref<4xf32>
  %2 = memref.load %m[%i] : memref<4xf32>
  scf.if %c {
    memref.store %1, %m[%i] : memref<4xf32>
  }
  %3 = memref.load %m[%i] : memref<4xf32>
  return %1, %2, %3 : f32, f32, f32
}

// -----

// Ops with equal regions are equal; other attributes make other ops.
// CHECK-LABEL: func.func @regions
// CHECK:         %[[A:.*]] = scf.if %c -> (i32) {
// CHECK:         %[[B:.*]] = scf.if %c -> (i32) {
// CHECK-NOT:     scf.if
// CHECK:         return %[[A]], %[[A]], %[[B]]
func.func @regions(%x: i32, %y: i32, %c: i1) -> (i32, i32, i32) {
  %0 = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  %1 = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  %2 = scf.if %c -> (i32) {
    scf.yield %y : i32
  } else {
    scf.yield %x : i32
  }
  return %0, %1, %2 : i32, i32, i32
}

// -----

// What reads memory may look like what does not from outside.
// CHECK-LABEL: func.func @read_in_a_region
// CHECK-COUNT-2: scf.if
// CHECK-NOT:     scf.if
func.func @read_in_a_region(%m: memref<4xf32>, %i: index, %x: f32, %c: i1) -> (f32, f32, f32) {
  %0 = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %x : f32
  }
  %1 = scf.if %c -> (f32) {
    %a = memref.load %m[%i] : memref<4xf32>
    scf.yield %a : f32
  } else {
    scf.yield %x : f32
  }
  %2 = scf.if %c -> (f32) {
    %a = memref.load %m[%i] : memref<4xf32>
    scf.yield %a : f32
  } else {
    scf.yield %x : f32
  }
  return %0, %1, %2 : f32, f32, f32
}

// -----

// An op that nobody knows may write.
// CHECK-LABEL: func.func @unregistered
// CHECK:         %[[A:.*]] = memref.load
// CHECK-NEXT:    "other.write"(%m)
// CHECK-NEXT:    %[[B:.*]] = memref.load
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @unregistered(%m: memref<4xf32>, %i: index) -> (f32, f32) {
  %a = memref.load %m[%i] : memref<4xf32>
  "other.write"(%m) : (memref<4xf32>) -> ()
  %b = memref.load %m[%i] : memref<4xf32>
  return %a, %b : f32, f32
}
