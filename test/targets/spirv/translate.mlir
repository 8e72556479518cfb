// RUN: ingot-translate --serialize-spirv %s -o %t.spv
// RUN: ingot-translate --disassemble-spirv %t.spv | filecheck %s
// RUN: ingot-translate --deserialize-spirv %t.spv | ingot-translate --serialize-spirv - -o %t.again.spv
// RUN: cmp %t.spv %t.again.spv

// Constants are declared once, names follow the source, the loop is structured and its carried value
// is an OpPhi.
// CHECK:      OpCapability Shader
// CHECK-NEXT: OpMemoryModel Logical GLSL450
// CHECK-NEXT: OpEntryPoint GLCompute %sum "sum" %gid
// CHECK-NEXT: OpExecutionMode %sum LocalSize 64 1 1
// CHECK:      OpMemberDecorate %[[BUFFER:.*]] 0 Offset 0
// CHECK-NEXT: OpDecorate %[[BUFFER]] Block
// CHECK:      OpDecorate %x NonWritable
// CHECK:      %[[ZERO:.*]] = OpConstant %uint 0
// CHECK-NOT:  OpConstant %uint 0
// CHECK:      %sum = OpFunction %void None
// CHECK-NEXT: %[[ENTRY:.*]] = OpLabel
// CHECK-NEXT: %total = OpVariable
// CHECK:      OpBranch %[[HEADER:.*]]
// CHECK-NEXT: %[[HEADER]] = OpLabel
// CHECK-NEXT: %i = OpPhi %uint %[[ZERO]] %[[ENTRY]] %next %[[CONTINUE:.*]]
// CHECK:      OpLoopMerge %[[MERGE:.*]] %[[CONTINUE]] None
// CHECK-NEXT: OpBranchConditional %more %{{.*}} %[[MERGE]]
spirv.module @sum Logical GLSL450 requires #spirv.vce<v1.3, [Shader], []> {
  spirv.GlobalVariable @gid built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @x bind(0, 0) {non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.GlobalVariable @y bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.func @sum() "None" {
    %gid_address = spirv.mlir.addressof @gid : !spirv.ptr<vector<3xi32>, Input>
    %gid = spirv.Load "Input" %gid_address : vector<3xi32>
    %thread = spirv.CompositeExtract %gid[0 : i32] : vector<3xi32>
    %zero = spirv.Constant 0 : i32
    %one = spirv.Constant 1 : i32
    %n = spirv.Constant 16 : i32
    %nothing = spirv.Constant 0.0 : f32
    %total = spirv.Variable init(%nothing) : !spirv.ptr<f32, Function>
    %x = spirv.mlir.addressof @x : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    spirv.mlir.loop {
      spirv.Branch ^header(%zero : i32)
    ^header(%i: i32):
      %more = spirv.SLessThan %i, %n : i32
      spirv.BranchConditional %more, ^body, ^merge
    ^body:
      %first = spirv.Constant 0 : i32
      %element = spirv.AccessChain %x[%first, %i] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32
      %value = spirv.Load "StorageBuffer" %element : f32
      %before = spirv.Load "Function" %total : f32
      %after = spirv.FAdd %before, %value : f32
      spirv.Store "Function" %total, %after : f32
      spirv.Branch ^continue
    ^continue:
      %next = spirv.IAdd %i, %one : i32
      spirv.Branch ^header(%next : i32)
    ^merge:
      spirv.mlir.merge
    }
    %y = spirv.mlir.addressof @y : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    %target = spirv.AccessChain %y[%zero, %thread] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32
    %result = spirv.Load "Function" %total : f32
    spirv.Store "StorageBuffer" %target, %result : f32
    spirv.Return
  }
  spirv.EntryPoint "GLCompute" @sum, @gid
  spirv.ExecutionMode @sum "LocalSize", 64, 1, 1
}
