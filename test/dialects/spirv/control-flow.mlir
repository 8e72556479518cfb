// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | filecheck %s
// RUN: %if mlir-opt %{ ingot-opt %s | %mlir-opt | filecheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt --mlir-print-op-generic %s | ingot-opt | filecheck %s %}

spirv.module Logical GLSL450 requires #spirv.vce<v1.3, [Shader], []> {
  // CHECK-LABEL: spirv.func @selection
  spirv.func @selection(%c: i1) "None" {
    // CHECK: spirv.mlir.selection control(Flatten) {
    spirv.mlir.selection control(Flatten) {
      // CHECK-NEXT: spirv.BranchConditional %{{.*}} [8, 1], ^[[THEN:.*]], ^[[MERGE:[^ ]*]]
      spirv.BranchConditional %c [8, 1], ^then, ^merge
    // CHECK-NEXT: ^[[THEN]]:
    ^then:
      // CHECK-NEXT: spirv.Branch ^[[MERGE]]
      spirv.Branch ^merge
    // CHECK-NEXT: ^[[MERGE]]:
    ^merge:
      // CHECK-NEXT: spirv.mlir.merge
      spirv.mlir.merge
    }
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @loop
  spirv.func @loop(%n: i32) "None" {
    %zero = spirv.Constant 0 : i32
    %one = spirv.Constant 1 : i32
    // CHECK: spirv.mlir.loop {
    spirv.mlir.loop {
      // CHECK-NEXT: spirv.Branch ^[[HEADER:.*]](%{{.*}} : i32)
      spirv.Branch ^header(%zero : i32)
    // CHECK-NEXT: ^[[HEADER]](%[[I:.*]]: i32):
    ^header(%i: i32):
      %more = spirv.SLessThan %i, %n : i32
      // CHECK: spirv.BranchConditional %{{.*}}, ^{{.*}}, ^{{.*}}
      spirv.BranchConditional %more, ^body, ^merge
    ^body:
      spirv.Branch ^continue
    ^continue:
      // CHECK: %[[NEXT:.*]] = spirv.IAdd %[[I]], %{{.*}} : i32
      %next = spirv.IAdd %i, %one : i32
      // CHECK-NEXT: spirv.Branch ^[[HEADER]](%[[NEXT]] : i32)
      spirv.Branch ^header(%next : i32)
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @unreachable
  spirv.func @unreachable(%c: i1) "None" {
    spirv.mlir.selection {
      spirv.BranchConditional %c, ^then, ^else
    ^then:
      spirv.Return
    ^else:
      spirv.Return
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }
}
