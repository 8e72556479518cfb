// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | filecheck %s
// RUN: %if mlir-opt %{ ingot-opt %s | %mlir-opt | filecheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt --mlir-print-op-generic %s | ingot-opt | filecheck %s %}

spirv.module Logical GLSL450 requires #spirv.vce<v1.3, [Shader], []> {
  // CHECK-LABEL: spirv.func @composites
  spirv.func @composites(%f: f32, %v: vector<4xf32>, %i: i32) "None" {
    // CHECK: spirv.CompositeConstruct %{{.*}}, %{{.*}} : (f32, f32) -> vector<2xf32>
    %0 = spirv.CompositeConstruct %f, %f : (f32, f32) -> vector<2xf32>
    // CHECK: spirv.CompositeExtract %{{.*}}[3 : i32] : vector<4xf32>
    %1 = spirv.CompositeExtract %v[3 : i32] : vector<4xf32>
    // CHECK: spirv.CompositeInsert %{{.*}}, %{{.*}}[0 : i32] : f32 into vector<4xf32>
    %2 = spirv.CompositeInsert %f, %v[0 : i32] : f32 into vector<4xf32>
    // CHECK: spirv.VectorShuffle [1 : i32, 7 : i32, -1 : i32] %{{.*}}, %{{.*}} : vector<4xf32>, vector<4xf32> -> vector<3xf32>
    %3 = spirv.VectorShuffle [1 : i32, 7 : i32, -1 : i32] %v, %v : vector<4xf32>, vector<4xf32> -> vector<3xf32>
    // CHECK: spirv.VectorExtractDynamic %{{.*}}[%{{.*}}] : vector<4xf32>, i32
    %4 = spirv.VectorExtractDynamic %v[%i] : vector<4xf32>, i32
    // CHECK: spirv.VectorInsertDynamic %{{.*}}, %{{.*}}[%{{.*}}] : vector<4xf32>, i32
    %5 = spirv.VectorInsertDynamic %f, %v[%i] : vector<4xf32>, i32
    // CHECK: spirv.VectorTimesScalar %{{.*}}, %{{.*}} : (vector<4xf32>, f32) -> vector<4xf32>
    %6 = spirv.VectorTimesScalar %v, %f : (vector<4xf32>, f32) -> vector<4xf32>
    // CHECK: spirv.Dot %{{.*}}, %{{.*}} : vector<4xf32> -> f32
    %7 = spirv.Dot %v, %v : vector<4xf32> -> f32
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @pointers
  spirv.func @pointers(%p: !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, %i: i32) "None" {
    %zero = spirv.Constant 0 : i32
    // CHECK: spirv.Variable init(%{{.*}}) : !spirv.ptr<i32, Function>
    %variable = spirv.Variable init(%zero) : !spirv.ptr<i32, Function>
    // CHECK: %[[E:.*]] = spirv.AccessChain %{{.*}}[%{{.*}}, %{{.*}}] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32
    %element = spirv.AccessChain %p[%zero, %i] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32
    // CHECK: spirv.Load "StorageBuffer" %[[E]] ["Volatile|Aligned", 4] : f32
    %value = spirv.Load "StorageBuffer" %element ["Volatile|Aligned", 4] : f32
    // CHECK: spirv.Store "StorageBuffer" %[[E]], %{{.*}} : f32
    spirv.Store "StorageBuffer" %element, %value : f32
    spirv.Return
  }

  // CHECK-LABEL: spirv.func @atomics
  spirv.func @atomics(%p: !spirv.ptr<i32, StorageBuffer>, %v: i32) "None" {
    // CHECK: spirv.AtomicIAdd <Device> <None> %{{.*}}, %{{.*}} : !spirv.ptr<i32, StorageBuffer>
    %0 = spirv.AtomicIAdd <Device> <None> %p, %v : !spirv.ptr<i32, StorageBuffer>
    // CHECK: spirv.AtomicIIncrement <Device> <None> %{{.*}} : !spirv.ptr<i32, StorageBuffer>
    %1 = spirv.AtomicIIncrement <Device> <None> %p : !spirv.ptr<i32, StorageBuffer>
    // CHECK: spirv.AtomicCompareExchange <Workgroup> <Acquire> <None> %{{.*}}, %{{.*}}, %{{.*}} : !spirv.ptr<i32, StorageBuffer>
    %2 = spirv.AtomicCompareExchange <Workgroup> <Acquire> <None> %p, %v, %v : !spirv.ptr<i32, StorageBuffer>
    spirv.Return
  }
}
