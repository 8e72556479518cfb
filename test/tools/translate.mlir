// RUN: ingot-translate %s --serialize-spirv -o %t.spv
// RUN: ingot-translate %t.spv --deserialize-spirv | filecheck %s
// RUN: ingot-translate --deserialize-spirv %t.spv | ingot-translate --serialize-spirv -o %t2.spv
// RUN: cmp %t.spv %t2.spv
// RUN: ingot-translate %t.spv --spirv-to-msl | filecheck %s --check-prefix=MSL
// RUN: ingot translate %t.spv --disassemble-spirv | filecheck %s --check-prefix=ASM
// RUN: ! ingot translate %S/opt.mlir --serialize-spirv 2>&1 | filecheck %s --check-prefix=NONE

// CHECK:      spirv.module Logical GLSL450
// CHECK:        spirv.GlobalVariable @x bind(0, 0)
// CHECK:        spirv.func @double

// MSL:        kernel void double_(
// MSL:          device float* x {{\[\[}}buffer(0){{\]\]}}

// ASM:        OpEntryPoint GLCompute
// ASM:        OpExecutionMode {{.*}} LocalSize 1 1 1

// NONE:       opt.mlir: error: expected one spirv.module, found 0

spirv.module Logical GLSL450 requires #spirv.vce<v1.3, [Shader], []> {
  spirv.GlobalVariable @x bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.func @double() "None" {
    %zero = spirv.Constant 0 : i32
    %buffer = spirv.mlir.addressof @x : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    %pointer = spirv.AccessChain %buffer[%zero, %zero] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    %value = spirv.Load "StorageBuffer" %pointer : f32
    %sum = spirv.FAdd %value, %value : f32
    spirv.Store "StorageBuffer" %pointer, %sum : f32
    spirv.Return
  }
  spirv.EntryPoint "GLCompute" @double
  spirv.ExecutionMode @double "LocalSize", 1, 1, 1
}
