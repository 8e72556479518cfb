// RUN: ingot-opt %s --allow-unregistered-dialect --verify-roundtrip | filecheck %s
// RUN: ingot-opt -allow-unregistered-dialect -mlir-print-op-generic < %s | filecheck %s --check-prefix=GENERIC
// RUN: ingot-opt - --allow-unregistered-dialect --mlir-print-debuginfo < %s | filecheck %s --check-prefix=PLACES
// RUN: not ingot-opt %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not ingot-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(nonsense)' 2>&1 | filecheck %s --check-prefix=NONSENSE
// RUN: %if mlir-opt %{ %mlir-opt %s --allow-unregistered-dialect --verify-roundtrip | filecheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt -allow-unregistered-dialect -mlir-print-op-generic < %s | filecheck %s --check-prefix=GENERIC %}
// RUN: %if mlir-opt %{ not %mlir-opt %s 2>&1 | filecheck %s --check-prefix=UNKNOWN %}
// RUN: %if mlir-opt %{ not %mlir-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(nonsense)' 2>&1 | filecheck %s --check-prefix=NONSENSE %}

// CHECK:      module {
// CHECK-NEXT:   func.func @f(%[[X:.*]]: i32) -> i32 {
// CHECK-NEXT:     %[[Y:.*]] = "nobody.knows"(%[[X]]) {a = 1 : i64} : (i32) -> i32
// CHECK-NEXT:     return %[[Y]] : i32

// GENERIC:      "builtin.module"() ({
// GENERIC-NEXT:   "func.func"() <{
// GENERIC:          "nobody.knows"(%{{.*}}) {a = 1 : i64} : (i32) -> i32
// GENERIC-NEXT:     "func.return"(%{{.*}}) : (i32) -> ()

// PLACES: "nobody.knows"(%{{.*}}) {{.*}} loc("<stdin>":{{[0-9]+}}:8)

// UNKNOWN: opt-input.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}dialect
// NONSENSE: error: {{.*}}nonsense

func.func @f(%x: i32) -> i32 {
  %y = "nobody.knows"(%x) {a = 1 : i64} : (i32) -> i32
  return %y : i32
}
