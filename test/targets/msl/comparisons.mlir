// RUN: ingot-translate %s --serialize-spirv | ingot-translate - --spirv-to-msl | filecheck %s

// Comparisons mean for NaN what SPIR-V says, remainders of i32 are signed: SPIRV-Cross prints the
// first as `!=` and, in older versions, the second without its casts.

spirv.module @compare Logical GLSL450 requires #spirv.vce<v1.3, [Shader], [SPV_KHR_storage_buffer_storage_class]> {
  spirv.GlobalVariable @x bind(0, 0) {non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.GlobalVariable @n bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<i32, stride=4> [0])>, StorageBuffer>
  spirv.func @compare() "None" {
    %zero = spirv.Constant 0 : i32
    %one = spirv.Constant 1 : i32
    %two = spirv.Constant 2 : i32
    %xs = spirv.mlir.addressof @x : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    %ns = spirv.mlir.addressof @n : !spirv.ptr<!spirv.struct<(!spirv.rtarray<i32, stride=4> [0])>, StorageBuffer>
    %x0 = spirv.AccessChain %xs[%zero, %zero] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    %x1 = spirv.AccessChain %xs[%zero, %one] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    %a = spirv.Load "StorageBuffer" %x0 : f32
    %b = spirv.Load "StorageBuffer" %x1 : f32
    %n0 = spirv.AccessChain %ns[%zero, %zero] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<i32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<i32, StorageBuffer>
    %n1 = spirv.AccessChain %ns[%zero, %one] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<i32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<i32, StorageBuffer>
    %n2 = spirv.AccessChain %ns[%zero, %two] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<i32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<i32, StorageBuffer>
    %i = spirv.Load "StorageBuffer" %n0 : i32
    %j = spirv.Load "StorageBuffer" %n1 : i32
    %differ = spirv.FOrdNotEqual %a, %b : f32
    %less = spirv.FUnordLessThan %a, %b : f32
    %both = spirv.LogicalAnd %differ, %less : i1
    %remainder = spirv.SRem %i, %j : i32
    %r = spirv.Select %both, %remainder, %zero : i1, i32
    spirv.Store "StorageBuffer" %n2, %r : i32
    spirv.Return
  }
  spirv.EntryPoint "GLCompute" @compare
  spirv.ExecutionMode @compare "LocalSize", 1, 1, 1
}

// CHECK:      n[2u] = (((x[0u] < x[1u]) || (x[0u] > x[1u])) && (!(x[0u] >= x[1u]))) ?
// CHECK-SAME: (n[0u] - (uint(int(n[0u]) / int(n[1u])) * n[1u])) : 0u;
