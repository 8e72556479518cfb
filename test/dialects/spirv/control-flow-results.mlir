// RUN: ingot-opt %s | ingot-opt | filecheck %s

// Results, as MLIR has them since LLVM 21.
spirv.module Logical GLSL450 {
  // CHECK-LABEL: spirv.func @selection
  spirv.func @selection(%c: i1, %a: f32, %b: f32) -> f32 "None" {
    // CHECK: %[[R:.*]] = spirv.mlir.selection -> f32 {
    %r = spirv.mlir.selection -> f32 {
      // CHECK-NEXT: spirv.BranchConditional %{{.*}}, ^{{.*}}, ^[[MERGE:.*]](%{{.*}} : f32)
      spirv.BranchConditional %c, ^then, ^merge(%a : f32)
    ^then:
      spirv.Branch ^merge(%b : f32)
    // CHECK: ^[[MERGE]](%[[V:.*]]: f32):
    ^merge(%v: f32):
      // CHECK-NEXT: spirv.mlir.merge %[[V]] : f32
      spirv.mlir.merge %v : f32
    }
    // CHECK: spirv.ReturnValue %[[R]] : f32
    spirv.ReturnValue %r : f32
  }
}
