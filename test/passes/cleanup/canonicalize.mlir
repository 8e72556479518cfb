// RUN: ingot-opt %s -p 'canonicalize' --split-input-file | filecheck %s

// Constants are computed, neutral ones dropped, and what nothing needs any more goes.
// CHECK-LABEL: func.func @fold
// CHECK-NEXT:    %[[SIX:.*]] = arith.constant 6 : index
// CHECK-NEXT:    return %[[SIX]], %x
func.func @fold(%x: index) -> (index, index) {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %zero = arith.constant 0 : index
  %0 = arith.muli %two, %three : index
  %1 = arith.addi %x, %zero : index
  %dead = arith.muli %1, %x : index
  return %0, %1 : index, index
}

// -----

// A branch on a constant is taken, and a loop of one turn is its body.
// CHECK-LABEL: func.func @control
// CHECK-NEXT:    %[[S:.*]] = arith.addi %x, %x : i32
// CHECK-NEXT:    return %[[S]] : i32
func.func @control(%x: i32) -> i32 {
  %true = arith.constant true
  %0 = scf.if %true -> (i32) {
    scf.yield %x : i32
  } else {
    %y = arith.constant 7 : i32
    scf.yield %y : i32
  }
  %lb = arith.constant 0 : index
  %ub = arith.constant 1 : index
  %1 = scf.for %i = %lb to %ub step %ub iter_args(%a = %0) -> (i32) {
    %b = arith.addi %a, %x : i32
    scf.yield %b : i32
  }
  return %1 : i32
}

// -----

// A chain of ops goes once its end does; what has effects stays.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    %[[A:.*]] = arith.addf %x, %x : f32
// CHECK-NEXT:    "test.op"(%[[A]]) : (f32) -> ()
// CHECK-NEXT:    return
func.func @dead(%x: f32, %m: memref<4xf32>, %i: index) {
  %a = arith.addf %x, %x : f32
  %b = arith.mulf %a, %a : f32
  %c = arith.mulf %b, %b : f32
  %l = memref.load %m[%i] : memref<4xf32>
  "test.op"(%a) : (f32) -> ()
  return
}

// -----

// A clamp of an index that is known to lie on one side of its bound does nothing, or all.
// CHECK-LABEL: func.func @clamps
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK:         %[[UNKNOWN:.*]] = arith.maxsi %x, %[[ZERO]] : index
// CHECK-NEXT:    %[[KEPT:.*]] = arith.minsi %t, %[[SEVEN]] : index
// CHECK-NEXT:    return %t, %[[ZERO]], %[[SEVEN]], %[[UNKNOWN]], %[[KEPT]]
func.func @clamps(%x: index) -> (index, index, index, index, index) {
  %zero = arith.constant 0 : index
  %seven = arith.constant 7 : index
  %t = gpu.thread_id x
  %same = arith.maxsi %t, %zero : index
  %none = arith.minsi %zero, %t : index
  %larger = arith.maxsi %zero, %seven : index
  %unknown = arith.maxsi %x, %zero : index
  %kept = arith.minsi %t, %seven : index
  return %same, %none, %larger, %unknown, %kept : index, index, index, index, index
}
