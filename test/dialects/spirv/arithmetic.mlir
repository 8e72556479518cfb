// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | filecheck %s
// RUN: %if mlir-opt %{ ingot-opt %s | %mlir-opt | filecheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt --mlir-print-op-generic %s | ingot-opt | filecheck %s %}

spirv.module Logical GLSL450 requires #spirv.vce<v1.3, [Shader, Int64], []> {
  // CHECK-LABEL: spirv.func @uniform
  spirv.func @uniform(%f: f32, %i: i32, %b: i1) "None" {
    // CHECK: spirv.FAdd %[[F:.*]], %[[F]] {no_contraction} : f32
    %0 = spirv.FAdd %f, %f {no_contraction} : f32
    // CHECK: spirv.SNegate %{{.*}} : i32
    %1 = spirv.SNegate %i : i32
    // CHECK: spirv.GL.FClamp %[[F]], %[[F]], %[[F]] : f32
    %2 = spirv.GL.FClamp %f, %f, %f : f32
    // CHECK: spirv.LogicalAnd %{{.*}}, %{{.*}} : i1
    %3 = spirv.LogicalAnd %b, %b : i1
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @compare
  spirv.func @compare(%f: vector<4xf32>, %i: i32) "None" {
    // CHECK: spirv.FOrdLessThan %{{.*}}, %{{.*}} : vector<4xf32>
    %0 = spirv.FOrdLessThan %f, %f : vector<4xf32>
    // CHECK: spirv.Select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
    %1 = spirv.Select %0, %f, %f : vector<4xi1>, vector<4xf32>
    // CHECK: spirv.IsNan %{{.*}} : vector<4xf32>
    %2 = spirv.IsNan %f : vector<4xf32>
    // CHECK: spirv.UGreaterThanEqual %{{.*}}, %{{.*}} : i32
    %3 = spirv.UGreaterThanEqual %i, %i : i32
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @convert
  spirv.func @convert(%f: f32, %i: i32, %w: i64) "None" {
    // CHECK: spirv.ConvertFToS %{{.*}} : f32 to i64
    %0 = spirv.ConvertFToS %f : f32 to i64
    // CHECK: spirv.SConvert %{{.*}} : i32 to i64
    %1 = spirv.SConvert %i : i32 to i64
    // CHECK: spirv.Bitcast %{{.*}} : i64 to vector<2xf32>
    %2 = spirv.Bitcast %w : i64 to vector<2xf32>
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @bits
  spirv.func @bits(%i: i32, %w: i64) "None" {
    // CHECK: spirv.ShiftLeftLogical %{{.*}}, %{{.*}} : i64, i32
    %0 = spirv.ShiftLeftLogical %w, %i : i64, i32
    // CHECK: spirv.BitFieldUExtract %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i64
    %1 = spirv.BitFieldUExtract %i, %i, %w : i32, i32, i64
    // CHECK: spirv.BitFieldInsert %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i64
    %2 = spirv.BitFieldInsert %i, %i, %i, %w : i32, i32, i64
    // CHECK: spirv.UMulExtended %{{.*}}, %{{.*}} : !spirv.struct<(i32, i32)>
    %3 = spirv.UMulExtended %i, %i : !spirv.struct<(i32, i32)>
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @glsl
  spirv.func @glsl(%f: f32, %i: i32) "None" {
    // CHECK: spirv.GL.FMix %{{.*}} : f32, %{{.*}} : f32, %{{.*}} : f32 -> f32
    %0 = spirv.GL.FMix %f : f32, %f : f32, %f : f32 -> f32
    // CHECK: spirv.GL.Ldexp %{{.*}} : f32, %{{.*}} : i32 -> f32
    %1 = spirv.GL.Ldexp %f : f32, %i : i32 -> f32
    // CHECK: spirv.GL.FrexpStruct %{{.*}} : f32 -> !spirv.struct<(f32, i32)>
    %2 = spirv.GL.FrexpStruct %f : f32 -> !spirv.struct<(f32, i32)>
    spirv.Return
  }
}
