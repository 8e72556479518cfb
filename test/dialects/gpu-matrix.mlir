// RUN: ingot-opt %s | ingot-opt | filecheck %s
// RUN: ingot-opt %s | mlir-opt-19 | filecheck %s --check-prefix=UPSTREAM

// Upstream's ops on matrices of a SIMD-group, as upstream prints them.
// CHECK-LABEL: func.func @multiply
// CHECK: gpu.subgroup_mma_constant_matrix %{{.*}} : !gpu.mma_matrix<16x16xf32, "COp">
// CHECK: gpu.subgroup_mma_load_matrix %{{.*}}[%{{.*}}, %{{.*}}] {leadDimension = 40 : index} : memref<32x40xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "AOp">
// CHECK: gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 40 : index, transpose} : {{.*}} -> !gpu.mma_matrix<16x16xf16, "BOp">
// CHECK: gpu.subgroup_mma_compute %{{.*}}, %{{.*}}, %{{.*}} : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
// CHECK: gpu.subgroup_mma_store_matrix %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {leadDimension = 40 : index}
// UPSTREAM: gpu.subgroup_mma_compute
func.func @multiply(%m: memref<32x40xf16, #gpu.address_space<workgroup>>, %o: memref<32x40xf32, #gpu.address_space<workgroup>>) {
  %i = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %c = gpu.subgroup_mma_constant_matrix %z : !gpu.mma_matrix<16x16xf32, "COp">
  %a = gpu.subgroup_mma_load_matrix %m[%i, %i] {leadDimension = 40 : index} : memref<32x40xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "AOp">
  %b = gpu.subgroup_mma_load_matrix %m[%i, %i] {leadDimension = 40 : index, transpose} : memref<32x40xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "BOp">
  %d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
  gpu.subgroup_mma_store_matrix %d, %o[%i, %i] {leadDimension = 40 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<32x40xf32, #gpu.address_space<workgroup>>
  return
}
