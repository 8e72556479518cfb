// RUN: ingot-opt %s --split-input-file --verify-diagnostics

spirv.module Logical GLSL450 {
  spirv.func @float(%a: i32) "None" {
    // expected-error@+1 {{spirv.FAdd: operand must be f16, f32 or f64, or a vector of 2 to 4 of them, got i32}}
    %0 = spirv.FAdd %a, %a : i32
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @width(%a: i32) "None" {
    // expected-error@+1 {{spirv.SConvert: must change the width, got i32 to i32}}
    %0 = spirv.SConvert %a : i32 to i32
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @vector(%a: vector<5xf32>) "None" {
    // expected-error@+1 {{got vector<5xf32>}}
    %0 = spirv.FNegate %a : vector<5xf32>
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @initializer(%a: f32) "None" {
    // expected-error@+1 {{spirv.Variable: initializer must be a spirv.Constant}}
    %0 = spirv.Variable init(%a) : !spirv.ptr<f32, Function>
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @merge(%c: i1) "None" {
    // expected-error@+1 {{spirv.mlir.selection: the last block must hold spirv.mlir.merge and nothing else}}
    spirv.mlir.selection {
      spirv.BranchConditional %c, ^then, ^then
    ^then:
      spirv.Return
    }
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @back(%c: i1) "None" {
    // expected-error@+1 {{spirv.mlir.loop: the continue block, the last but one, must branch back to the header}}
    spirv.mlir.loop {
      spirv.Branch ^header
    ^header:
      spirv.BranchConditional %c, ^body, ^merge
    ^body:
      spirv.Branch ^merge
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @call(%a: f32) "None" {
    // expected-error@+1 {{@missing}}
    spirv.FunctionCall @missing(%a) : (f32) -> ()
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @scope() "None" {
    // expected-error@+1 {{'Galaxy' is not a Scope}}
    %0 = spirv.GroupNonUniformElect <Galaxy> : i1
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 {
  spirv.func @member(%p: !spirv.ptr<!spirv.struct<(f32 [0])>, StorageBuffer>, %i: i32) "None" {
    // expected-error@+1 {{a struct's member must be chosen by a constant}}
    %0 = spirv.AccessChain %p[%i] : !spirv.ptr<!spirv.struct<(f32 [0])>, StorageBuffer>, i32
    spirv.Return
  }
}
