// RUN: ingot-translate %s --serialize-spirv | ingot-translate - --spirv-to-msl | filecheck %s

// Buffers are pointers named as in the source, const where they are only read; functions are the
// precise ones.

spirv.module @scale_exp Logical GLSL450 requires #spirv.vce<v1.3, [Shader], [SPV_KHR_storage_buffer_storage_class]> {
  spirv.GlobalVariable @gid built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @input bind(0, 0) {non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.GlobalVariable @kernel bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.func @scale_exp() "None" {
    %zero = spirv.Constant 0 : i32
    %two = spirv.Constant 2.000000e+00 : f32
    %gid = spirv.mlir.addressof @gid : !spirv.ptr<vector<3xi32>, Input>
    %ids = spirv.Load "Input" %gid : vector<3xi32>
    %i = spirv.CompositeExtract %ids[0 : i32] : vector<3xi32>
    %in = spirv.mlir.addressof @input : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    %from = spirv.AccessChain %in[%zero, %i] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    %x = spirv.Load "StorageBuffer" %from : f32
    %twice = spirv.FMul %x, %two : f32
    %y = spirv.GL.Exp %twice : f32
    %out = spirv.mlir.addressof @kernel : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    %to = spirv.AccessChain %out[%zero, %i] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    spirv.Store "StorageBuffer" %to, %y : f32
    spirv.Return
  }
  spirv.EntryPoint "GLCompute" @scale_exp, @gid
  spirv.ExecutionMode @scale_exp "LocalSize", 64, 1, 1
}

// CHECK:      // threadgroup: 64 x 1 x 1 threads, math: safe
// CHECK-NEXT: // buffer(0) input    read, float
// CHECK-NEXT: // buffer(1) kernel_  read write, float
// CHECK:      #pragma METAL fp math_mode(safe)
// CHECK:      {{\[\[}}max_total_threads_per_threadgroup(64){{\]\]}}
// CHECK-NEXT: kernel void scale_exp(
// CHECK-NEXT:     const device float* input {{\[\[}}buffer(0){{\]\]}},
// CHECK-NEXT:     device float* kernel_ {{\[\[}}buffer(1){{\]\]}},
// CHECK-NEXT:     uint3 thread_position_in_grid {{\[\[}}thread_position_in_grid{{\]\]}})
// CHECK:      kernel_[thread_position_in_grid.x] = precise::exp(input[thread_position_in_grid.x] * 2.0);
