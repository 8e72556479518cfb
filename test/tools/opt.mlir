// RUN: ingot-opt %s --split-input-file -p 'cse' | filecheck %s
// RUN: ingot-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cse))' | filecheck %s
// RUN: ingot-opt %s -split-input-file --cse --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: ingot opt - --split-input-file --print-after cse --cse < %s 2>&1 | filecheck %s --check-prefix=AFTER

// Each part is read, transformed and printed alone.
// CHECK-LABEL: func.func @first
// CHECK:         %[[S:.*]] = arith.addi
// CHECK-NEXT:    return %[[S]], %[[S]] : i32, i32
// CHECK:       // -----
// CHECK-LABEL: func.func @second

// GENERIC:      "func.func"() <{sym_name = "first"
// GENERIC:        "arith.addi"

// AFTER:       // -----// IR Dump After {{.*}} (cse) //----- //
// AFTER:       func.func @first

func.func @first(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  return %0, %1 : i32, i32
}

// -----

func.func @second(%a: i32) -> i32 {
  return %a : i32
}
