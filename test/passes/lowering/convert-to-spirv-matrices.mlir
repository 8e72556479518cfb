// RUN: ingot-opt %s -p 'convert-to-spirv' | filecheck %s

// Cooperative matrices need Vulkan's memory model, and marks on what threads share. Eight halves are
// copied as four words; a stride counts what the pointer points to.
// CHECK-LABEL: spirv.module @k Logical Vulkan requires #spirv.vce<v1.3, [{{.*}}VulkanMemoryModel, CooperativeMatrixKHR], [SPV_KHR_cooperative_matrix, SPV_KHR_vulkan_memory_model]>
// CHECK: spirv.GlobalVariable @x bind(0, 0) {non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<4xi32>, stride=16> [0])>, StorageBuffer>
// CHECK: spirv.GlobalVariable @tile : !spirv.ptr<!spirv.array<80 x vector<4xi32>>, Workgroup>
// CHECK: spirv.GlobalVariable @sum : !spirv.ptr<!spirv.array<80 x vector<4xf32>>, Workgroup>
// CHECK: spirv.Store "Workgroup" %{{.*}}, %{{.*}} ["NonPrivatePointer"] : vector<4xi32>
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK: spirv.KHR.CooperativeMatrixLoad %{{.*}}, %{{.*}}, <RowMajor>, <NonPrivatePointer> : !spirv.ptr<vector<4xi32>, Workgroup>, i32 -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixA>
// CHECK: spirv.KHR.CooperativeMatrixLoad %{{.*}}, %{{.*}}, <ColumnMajor>, <NonPrivatePointer> : {{.*}} -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixB>
// CHECK: spirv.KHR.CooperativeMatrixMulAdd
// CHECK: spirv.KHR.CooperativeMatrixStore
func.func @k(%x: memref<16x32xf16>, %out: memref<16x16xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 32, 1, 1>, ingot.grid = array<i64: 1, 1, 1>, ingot.names = ["x", "out"]} {
  %tile = memref.alloc() : memref<16x40xf16, #gpu.address_space<workgroup>>
  %sum = memref.alloc() : memref<16x20xf32, #gpu.address_space<workgroup>>
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.load %x[%i, %i] : memref<16x32xf16>, vector<8xf16>
  vector.store %v, %tile[%i, %i] : memref<16x40xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  gpu.barrier
  %c = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
  %a = gpu.subgroup_mma_load_matrix %tile[%i, %i] {leadDimension = 40 : index} : memref<16x40xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "AOp">
  %b = gpu.subgroup_mma_load_matrix %tile[%i, %i] {leadDimension = 40 : index, transpose} : memref<16x40xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "BOp">
  %d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
  gpu.subgroup_mma_store_matrix %d, %sum[%i, %i] {leadDimension = 20 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x20xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %w = vector.load %sum[%i, %i] : memref<16x20xf32, #gpu.address_space<workgroup>>, vector<4xf32>
  vector.store %w, %out[%i, %i] : memref<16x16xf32>, vector<4xf32>
  return
}
