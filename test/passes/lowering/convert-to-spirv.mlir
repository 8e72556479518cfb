// RUN: ingot-opt %s --split-input-file -p 'convert-to-spirv' | filecheck %s
// RUN: ingot-opt %s --split-input-file -p 'convert-to-spirv{exact=false}' | filecheck %s --check-prefix=LOOSE
// RUN: ingot-opt %s --split-input-file -p 'convert-to-spirv{special-values=true}' | filecheck %s --check-prefix=SPECIAL

// Arguments are bound in order under the source's names; what is only read says so.
func.func @copy(%arg0: memref<4x6xf32>, %arg1: memref<4x6xf32>) attributes {ingot.kernel, ingot.names = ["source", "target"], ingot.workgroup_size = array<i64: 32, 1, 1>, ingot.grid = array<i64: 1, 1, 1>} {
  %i = gpu.block_id y
  %j = gpu.thread_id x
  %v = memref.load %arg0[%i, %j] : memref<4x6xf32>
  %s = arith.addf %v, %v : f32
  memref.store %s, %arg1[%i, %j] : memref<4x6xf32>
  return
}
// SPECIAL:      spirv.module @copy Logical GLSL450 requires #spirv.vce<v1.3, [Shader, SignedZeroInfNanPreserve], [SPV_KHR_float_controls]>
// SPECIAL:      spirv.ExecutionMode @copy "SignedZeroInfNanPreserve", 32
// CHECK:      spirv.module @copy Logical GLSL450 requires #spirv.vce<v1.3, [Shader]
// CHECK-SAME: ingot.grid = array<i64: 1, 1, 1>
// CHECK-SAME: ingot.access = ["read", "write"]
// CHECK:      spirv.GlobalVariable @source bind(0, 0) {non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
// CHECK:      spirv.GlobalVariable @target bind(0, 1) {non_readable} :
// CHECK:      spirv.func @copy() "None" {
// CHECK:      %i = spirv.CompositeExtract %{{.*}}[1 : i32] : vector<3xi32>
// CHECK:      %j = spirv.CompositeExtract %{{.*}}[0 : i32] : vector<3xi32>
// CHECK:      %[[ROW:.*]] = spirv.IMul %i, %{{.*}} : i32
// CHECK-NEXT: %[[AT:.*]] = spirv.IAdd %[[ROW]], %j : i32
// CHECK-NEXT: spirv.AccessChain %{{.*}}[%{{.*}}, %[[AT]]]
// CHECK-NEXT: %v = spirv.Load "StorageBuffer"
// CHECK-NEXT: %s = spirv.FAdd %v, %v {no_contraction} : f32
// The index is not computed again.
// CHECK-NEXT: spirv.AccessChain %{{.*}}[%{{.*}}, %[[AT]]]
// CHECK-NEXT: spirv.Store "StorageBuffer"
// CHECK:      spirv.EntryPoint "GLCompute" @copy, @workgroupId, @localInvocationId
// CHECK-NEXT: spirv.ExecutionMode @copy "LocalSize", 32, 1, 1
// LOOSE:      %s = spirv.FAdd %v, %v : f32

// -----

// Elements a known distance apart share all of their place but the distance; a comparison needs the
// moved index itself.
func.func @moved(%x: memref<8x16xf32>, %y: memref<8x16xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 4, 1, 1>} {
  %i = gpu.block_id x
  %j = gpu.thread_id x
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %first = arith.muli %j, %c4 : index
  %i1 = arith.addi %i, %c1 : index
  %i3 = arith.addi %i1, %c2 : index
  %second = arith.addi %first, %c8 : index
  %v = vector.load %x[%i, %first] : memref<8x16xf32>, vector<4xf32>
  %w = vector.load %x[%i3, %second] : memref<8x16xf32>, vector<4xf32>
  %inside = arith.cmpi slt, %i3, %c7 : index
  scf.if %inside {
    vector.store %v, %y[%i3, %first] : memref<8x16xf32>, vector<4xf32>
    vector.store %w, %y[%i3, %second] : memref<8x16xf32>, vector<4xf32>
  }
  return
}
// CHECK:      spirv.func @moved() "None" {
// CHECK-DAG:  %[[THREE:.*]] = spirv.Constant 3 : i32
// CHECK-DAG:  %[[TWELVE:.*]] = spirv.Constant 12 : i32
// CHECK-DAG:  %[[FOURTEEN:.*]] = spirv.Constant 14 : i32
// CHECK:      %[[ROW:.*]] = spirv.IMul %i, %{{.*}} : i32
// CHECK-NEXT: %[[AT:.*]] = spirv.IAdd %[[ROW]], %j : i32
// CHECK-NEXT: spirv.AccessChain %{{.*}}[%{{.*}}, %[[AT]]]
// CHECK:      %[[BEHIND:.*]] = spirv.IAdd %[[AT]], %[[FOURTEEN]] : i32
// CHECK-NEXT: spirv.AccessChain %{{.*}}[%{{.*}}, %[[BEHIND]]]
// CHECK:      %[[I3:.*]] = spirv.IAdd %i, %[[THREE]] : i32
// CHECK-NEXT: spirv.ULessThan %[[I3]], %{{.*}} : i32
// CHECK-NOT:  spirv.IMul
// CHECK:      %[[BELOW:.*]] = spirv.IAdd %[[AT]], %[[TWELVE]] : i32
// CHECK-NEXT: spirv.AccessChain %{{.*}}[%{{.*}}, %[[BELOW]]]
// CHECK:      spirv.AccessChain %{{.*}}[%{{.*}}, %[[BEHIND]]]

// -----

// An index and a negative number are a difference.
func.func @before(%x: memref<16xf32>, %y: memref<16xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 4, 1, 1>} {
  %j = gpu.thread_id x
  %back = arith.constant -3 : index
  %i = arith.addi %j, %back : index
  %v = memref.load %x[%i] : memref<16xf32>
  memref.store %v, %y[%j] : memref<16xf32>
  return
}
// CHECK:      spirv.func @before() "None" {
// CHECK:      %[[THREE:.*]] = spirv.Constant 3 : i32
// CHECK:      %i = spirv.ISub %j, %[[THREE]] : i32

// -----

// Every access is an aligned vector of four: the buffer holds vectors. The output's are not aligned.
func.func @vectors(%x: memref<4x8xf32>, %y: memref<32xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 8, 1, 1>} {
  %t = gpu.thread_id x
  %c4 = arith.constant 4 : index
  %i = arith.muli %t, %c4 : index
  %v = vector.load %x[%t, %i] : memref<4x8xf32>, vector<4xf32>
  vector.store %v, %y[%t] : memref<32xf32>, vector<4xf32>
  return
}
// CHECK:      spirv.GlobalVariable @x bind(0, 0) {non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<4xf32>, stride=16> [0])>, StorageBuffer>
// CHECK:      spirv.GlobalVariable @y bind(0, 1) {non_readable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
// CHECK:      %v = spirv.Load "StorageBuffer" %{{.*}} : vector<4xf32>
// CHECK-COUNT-4: spirv.Store "StorageBuffer" %{{.*}}, %{{.*}} : f32

// -----

// State in variables: what comes out of a loop or a branch is loaded after it.
func.func @control(%x: memref<64xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
    %v = memref.load %x[%i] : memref<64xf32>
    %s = arith.addf %acc, %v : f32
    scf.yield %s : f32
  }
  %big = arith.cmpf ogt, %sum, %zero : f32
  %r = scf.if %big -> (f32) {
    scf.yield %sum : f32
  } else {
    scf.yield %zero : f32
  }
  memref.store %r, %x[%c0] : memref<64xf32>
  return
}
// CHECK:      %sum = spirv.Variable : !spirv.ptr<f32, Function>
// CHECK-NEXT: spirv.Store "Function" %sum, %zero : f32
// CHECK:      spirv.mlir.loop {
// CHECK:        spirv.ULessThan
// CHECK-NEXT:   spirv.BranchConditional
// CHECK:        %s = spirv.FAdd
// CHECK-NEXT:   spirv.Store "Function" %sum, %s : f32
// CHECK:        spirv.IAdd
// CHECK:        spirv.mlir.merge
// CHECK:      %[[SUM:.*]] = spirv.Load "Function" %sum : f32
// CHECK:      %big = spirv.FOrdGreaterThan %[[SUM]], %zero
// CHECK:      spirv.mlir.selection {

// -----

// Memory of a threadgroup is a variable of the module, memory of a thread one of the function.
func.func @memories(%x: memref<8xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 8, 1, 1>} {
  %tile = memref.alloc() : memref<2x4xf32, #gpu.address_space<workgroup>>
  %acc = memref.alloca() : memref<2xf32, #gpu.address_space<private>>
  %t = gpu.thread_id x
  %c1 = arith.constant 1 : index
  %v = memref.load %x[%t] : memref<8xf32>
  memref.store %v, %acc[%c1] : memref<2xf32, #gpu.address_space<private>>
  %w = memref.load %acc[%c1] : memref<2xf32, #gpu.address_space<private>>
  memref.store %w, %tile[%c1, %t] : memref<2x4xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %r = memref.load %tile[%c1, %c1] : memref<2x4xf32, #gpu.address_space<workgroup>>
  memref.store %r, %x[%t] : memref<8xf32>
  return
}
// CHECK:      spirv.GlobalVariable @tile : !spirv.ptr<!spirv.array<8 x f32>, Workgroup>
// CHECK:      %acc = spirv.Variable : !spirv.ptr<!spirv.array<2 x f32>, Function>
// CHECK:      spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>

// -----

// Four gigabytes need indices of 64 bits.
func.func @huge(%x: memref<1073741824xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 8, 1, 1>} {
  %t = gpu.thread_id x
  %one = arith.constant 1.0 : f32
  memref.store %one, %x[%t] : memref<1073741824xf32>
  return
}
// CHECK:      [Shader, Int64]
// CHECK:      %t = spirv.UConvert %{{.*}} : i32 to i64

// -----

// Called functions come along, and unused values do not.
func.func @calls(%x: memref<8xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 8, 1, 1>} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<8xf32>
  %unused = arith.mulf %v, %v : f32
  %r = func.call @twice(%v) : (f32) -> f32
  memref.store %r, %x[%t] : memref<8xf32>
  return
}
func.func private @twice(%x: f32) -> f32 {
  %r = arith.addf %x, %x : f32
  return %r : f32
}
// CHECK:      spirv.func @twice(%x: f32) -> f32 "None" {
// CHECK-NOT:  spirv.FMul
// CHECK:      spirv.func @calls
// CHECK-NOT:  spirv.FMul
// CHECK:      %[[CALL:.*]] = spirv.FunctionCall @twice(%v) : (f32) -> f32
// CHECK:      spirv.Store "Function" %r, %[[CALL]] : f32
// CHECK-NOT:  func.func

// -----

// A shuffle that would be printed behind `&&` gets a place of its own; others do not need one.
func.func @shuffles(%x: memref<32xi32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 32, 1, 1>} {
  %t = gpu.thread_id x
  %one = arith.constant 1 : i32
  %width = arith.constant 32 : i32
  %v = memref.load %x[%t] : memref<32xi32>
  %a, %valid_a = gpu.shuffle xor %v, %one, %width : i32
  %sum = arith.addi %v, %a : i32
  %positive = arith.cmpi sgt, %sum, %one : i32
  %b, %valid_b = gpu.shuffle xor %sum, %one, %width : i32
  %small = arith.cmpi slt, %b, %one : i32
  %both = arith.andi %positive, %small : i1
  %r = arith.select %both, %v, %one : i32
  %total = arith.addi %r, %sum : i32
  memref.store %total, %x[%t] : memref<32xi32>
  return
}
// CHECK:      spirv.func @shuffles
// CHECK:      spirv.GroupNonUniformShuffleXor
// CHECK-NOT:  spirv.Store
// CHECK:      %[[LAZY:.*]] = spirv.GroupNonUniformShuffleXor
// CHECK:      spirv.Store "Function" %{{.*}}, %[[LAZY]] : i32
// CHECK:      spirv.LogicalAnd

// What no kernel argument carries from thread to thread, a barrier need not wait for.
// CHECK-LABEL: spirv.module @staged
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
func.func private @staged(%x: memref<32xf32>, %y: memref<32xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 32, 1, 1>, ingot.grid = array<i64: 1, 1, 1>, ingot.names = ["x", "y"]} {
  %tile = memref.alloc() : memref<32xf32, #gpu.address_space<workgroup>>
  %last = arith.constant 31 : index
  %i = gpu.thread_id x
  %v = memref.load %x[%i] : memref<32xf32>
  memref.store %v, %tile[%i] : memref<32xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %j = arith.subi %last, %i : index
  %w = memref.load %tile[%j] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %w, %y[%i] : memref<32xf32>
  func.return
}
