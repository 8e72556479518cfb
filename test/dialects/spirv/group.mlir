// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | filecheck %s
// RUN: %if mlir-opt %{ ingot-opt %s | %mlir-opt | filecheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt --mlir-print-op-generic %s | ingot-opt | filecheck %s %}

spirv.module Logical Vulkan requires #spirv.vce<v1.3, [Shader, VulkanMemoryModel, GroupNonUniformArithmetic, GroupNonUniformClustered, GroupNonUniformBallot, GroupNonUniformShuffle, CooperativeMatrixKHR], [SPV_KHR_vulkan_memory_model, SPV_KHR_cooperative_matrix]> {
  // CHECK-LABEL: spirv.func @subgroup
  spirv.func @subgroup(%f: f32, %i: i32, %b: i1) "None" {
    %four = spirv.Constant 4 : i32
    // CHECK: spirv.GroupNonUniformElect <Subgroup> : i1
    %0 = spirv.GroupNonUniformElect <Subgroup> : i1
    // CHECK: spirv.GroupNonUniformFAdd "Subgroup" "Reduce" %{{.*}} : f32
    %1 = spirv.GroupNonUniformFAdd "Subgroup" "Reduce" %f : f32
    // CHECK: spirv.GroupNonUniformFMax "Subgroup" "ClusteredReduce" %{{.*}} cluster_size(%{{.*}}) : f32
    %2 = spirv.GroupNonUniformFMax "Subgroup" "ClusteredReduce" %f cluster_size(%four) : f32
    // CHECK: spirv.GroupNonUniformShuffleXor <Subgroup> %{{.*}}, %{{.*}} : f32, i32
    %3 = spirv.GroupNonUniformShuffleXor <Subgroup> %f, %i : f32, i32
    // CHECK: spirv.GroupNonUniformBallot <Subgroup> %{{.*}} : vector<4xi32>
    %4 = spirv.GroupNonUniformBallot <Subgroup> %b : vector<4xi32>
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @barriers
  spirv.func @barriers() "None" {
    // CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
    spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
    // CHECK: spirv.MemoryBarrier <Device>, <AcquireRelease|UniformMemory>
    spirv.MemoryBarrier <Device>, <AcquireRelease|UniformMemory>
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @matrices
  spirv.func @matrices(%p: !spirv.ptr<f32, StorageBuffer>, %stride: i32) "None" {
    // CHECK: spirv.KHR.CooperativeMatrixLoad %{{.*}}, %{{.*}}, <RowMajor> : !spirv.ptr<f32, StorageBuffer>, i32 -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixA>
    %a = spirv.KHR.CooperativeMatrixLoad %p, %stride, <RowMajor> : !spirv.ptr<f32, StorageBuffer>, i32 -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixA>
    // CHECK: spirv.KHR.CooperativeMatrixLoad %{{.*}}, %{{.*}}, <ColumnMajor>, <NonPrivatePointer>
    %b = spirv.KHR.CooperativeMatrixLoad %p, %stride, <ColumnMajor>, <NonPrivatePointer> : !spirv.ptr<f32, StorageBuffer>, i32 -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixB>
    %c = spirv.KHR.CooperativeMatrixLoad %p, %stride, <RowMajor> : !spirv.ptr<f32, StorageBuffer>, i32 -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
    // CHECK: spirv.KHR.CooperativeMatrixMulAdd %{{.*}}, %{{.*}}, %{{.*}} : !spirv.coopmatrix<8x8xf32, Subgroup, MatrixA>, !spirv.coopmatrix<8x8xf32, Subgroup, MatrixB> -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
    %d = spirv.KHR.CooperativeMatrixMulAdd %a, %b, %c : !spirv.coopmatrix<8x8xf32, Subgroup, MatrixA>, !spirv.coopmatrix<8x8xf32, Subgroup, MatrixB> -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
    // CHECK: spirv.KHR.CooperativeMatrixStore %{{.*}}, %{{.*}}, %{{.*}}, <RowMajor>
    spirv.KHR.CooperativeMatrixStore %p, %d, %stride, <RowMajor> : !spirv.ptr<f32, StorageBuffer>, !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>, i32
    // CHECK: spirv.KHR.CooperativeMatrixLength : !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
    %n = spirv.KHR.CooperativeMatrixLength : !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
    spirv.Return
  }
}
