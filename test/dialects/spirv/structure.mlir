// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s --mlir-print-op-generic | ingot-opt | filecheck %s
// RUN: %if mlir-opt %{ ingot-opt %s | %mlir-opt | filecheck %s %}
// RUN: %if mlir-opt %{ %mlir-opt --mlir-print-op-generic %s | ingot-opt | filecheck %s %}

// CHECK-LABEL: spirv.module @kernel Logical GLSL450 requires #spirv.vce<v1.3, [Shader, Int64], [SPV_KHR_16bit_storage]>
spirv.module @kernel Logical GLSL450 requires #spirv.vce<v1.3, [Shader, Int64], [SPV_KHR_16bit_storage]> {
  // CHECK: spirv.GlobalVariable @gid built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @gid built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
  // CHECK: spirv.GlobalVariable @x bind(0, 1) {non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0, NonWritable])>, StorageBuffer>
  spirv.GlobalVariable @x bind(0, 1) {non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0, NonWritable])>, StorageBuffer>
  // CHECK: spirv.GlobalVariable @tile : !spirv.ptr<!spirv.array<4 x !spirv.array<8 x f32>>, Workgroup>
  spirv.GlobalVariable @tile : !spirv.ptr<!spirv.array<4 x !spirv.array<8 x f32>>, Workgroup>
  // CHECK: spirv.GlobalVariable @push : !spirv.ptr<!spirv.struct<constants, (i32 [0], vector<2xf32> [8])>, PushConstant>
  spirv.GlobalVariable @push : !spirv.ptr<!spirv.struct<constants, (i32 [0], vector<2xf32> [8])>, PushConstant>
  // CHECK: spirv.SpecConstant @size spec_id(3) = 16 : i32
  spirv.SpecConstant @size spec_id(3) = 16 : i32

  // CHECK: spirv.func @helper(%{{.*}}: f32, %{{.*}}: i64) -> f32 "Inline|Pure"
  spirv.func @helper(%a: f32, %b: i64) -> f32 "Inline|Pure" {
    // CHECK: spirv.ReturnValue %{{.*}} : f32
    spirv.ReturnValue %a : f32
  }

  // CHECK: spirv.func @kernel() "None" attributes {note = 1 : i32}
  spirv.func @kernel() "None" attributes {note = 1 : i32} {
    // CHECK: spirv.mlir.addressof @gid : !spirv.ptr<vector<3xi32>, Input>
    %gid = spirv.mlir.addressof @gid : !spirv.ptr<vector<3xi32>, Input>
    // CHECK: spirv.mlir.referenceof @size : i32
    %size = spirv.mlir.referenceof @size : i32
    // CHECK: spirv.Constant 1.500000e+00 : f32
    %a = spirv.Constant 1.5 : f32
    // CHECK: spirv.Constant -3 : i64
    %b = spirv.Constant -3 : i64
    // CHECK: spirv.Constant true
    %t = spirv.Constant true
    // CHECK: spirv.Constant dense<[1, 2]> : vector<2xi32>
    %v = spirv.Constant dense<[1, 2]> : vector<2xi32>
    // CHECK: spirv.Constant [1 : i32, 2 : i32] : !spirv.array<2 x i32>
    %array = spirv.Constant [1 : i32, 2 : i32] : !spirv.array<2 x i32>
    // CHECK: spirv.Constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32> : !spirv.array<2 x !spirv.array<2 x i32>>
    %nested = spirv.Constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> : !spirv.array<2 x !spirv.array<2 x i32>>
    // CHECK: spirv.Undef : vector<4xf32>
    %u = spirv.Undef : vector<4xf32>
    // CHECK: spirv.FunctionCall @helper(%{{.*}}, %{{.*}}) : (f32, i64) -> f32
    %r = spirv.FunctionCall @helper(%a, %b) : (f32, i64) -> f32
    spirv.Return
  }
  // CHECK: spirv.EntryPoint "GLCompute" @kernel, @gid
  spirv.EntryPoint "GLCompute" @kernel, @gid
  // CHECK: spirv.ExecutionMode @kernel "LocalSize", 64, 1, 1
  spirv.ExecutionMode @kernel "LocalSize", 64, 1, 1
  // CHECK: spirv.ExecutionMode @kernel "ContractionOff"
  spirv.ExecutionMode @kernel "ContractionOff"
}
