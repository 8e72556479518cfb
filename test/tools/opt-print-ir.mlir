// RUN: ingot-opt %s -cse -mlir-print-ir-before-all -mlir-print-ir-after-all -o /dev/null 2>&1 | filecheck %s
// RUN: ingot-opt %s -cse --mlir-print-ir-before=cse --mlir-print-ir-after=cse -mlir-disable-threading -mlir-print-ir-module-scope -o /dev/null 2>&1 | filecheck %s
// RUN: ingot-opt %s -cse -canonicalize --dump-pass-pipeline -o /dev/null 2>&1 | filecheck %s --check-prefix=PIPELINE
// RUN: %if mlir-opt %{ %mlir-opt %s -cse -mlir-print-ir-before-all -mlir-print-ir-after-all -o /dev/null 2>&1 | filecheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt %s -cse -canonicalize --dump-pass-pipeline -o /dev/null 2>&1 | filecheck %s --check-prefix=PIPELINE %}

// CHECK:      // -----// IR Dump Before {{.*}} (cse) //----- //
// CHECK:        arith.addi
// CHECK-NEXT:   arith.addi
// CHECK:      // -----// IR Dump After {{.*}} (cse) //----- //
// CHECK:        arith.addi
// CHECK-NOT:    arith.addi

// PIPELINE:      Pass Manager with 2 passes:
// PIPELINE-NEXT: builtin.module(cse,canonicalize{{.*}})

func.func @f(%x: i32) -> (i32, i32) {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %x : i32
  return %0, %1 : i32, i32
}
