// RUN: not ingot-opt %s -split-input-file -cse 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=ERROR < %t.err
// RUN: ingot-opt %s -split-input-file -verify-diagnostics -cse | filecheck %s
// RUN: rm -f %t.mlir && not ingot-opt %s -split-input-file -o %t.mlir 2>/dev/null && not ls %t.mlir
// RUN: %if mlir-opt %{ not %mlir-opt %s -split-input-file -cse 2>/dev/null | filecheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt %s -split-input-file -verify-diagnostics -cse | filecheck %s %}

// A part that is refused does not stop the others, with or without --verify-diagnostics. A file is
// not written then.
// CHECK-LABEL: @first
// CHECK:         arith.addi
// CHECK-NOT:     arith.addi
// CHECK:       // -----
// CHECK-NOT:   @wrong
// CHECK-LABEL: @last

// ERROR: opt-split-input.mlir:{{[0-9]+}}:3: error: 'func.return' op
func.func @first(%x: i32) -> (i32, i32) {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %x : i32
  return %0, %1 : i32, i32
}

// -----

func.func @wrong(%x: i32) -> f32 {
  // expected-error@+1 {{}}
  return %x : i32
}

// -----

func.func @last(%x: i32) -> i32 {
  return %x : i32
}
