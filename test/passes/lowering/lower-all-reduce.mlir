// RUN: ingot-opt %s -p 'lower-all-reduce' | filecheck %s --check-prefix=TREE
// RUN: ingot-opt %s -p 'lower-all-reduce{simd_width=32}' | filecheck %s --check-prefix=SIMD

func.func @sum(%x: memref<96xf32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 96, 1, 1>} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<96xf32>
  %r = gpu.all_reduce add %v uniform {} : (f32) -> f32
  memref.store %r, %x[%t] : memref<96xf32>
  return
}
// 96 is no power of two: i takes i + 64 along where there is one, then the rest halves.
// TREE-LABEL: func.func @sum
// TREE-NEXT:  %partial = memref.alloc() : memref<96xf32, #gpu.address_space<workgroup>>
// TREE:       memref.store %v, %partial
// TREE-NEXT:  gpu.barrier
// TREE:       %[[PARTNER:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// TREE:       arith.cmpi ult, %[[PARTNER]]
// TREE:       gpu.barrier
// TREE:       scf.while (%stride
// TREE:         arith.addf
// TREE:         gpu.barrier
// TREE:       %r = memref.load %partial[%{{.*}}]

// Lanes first, then three SIMD-groups through threadgroup memory.
// SIMD-LABEL: func.func @sum
// SIMD-NEXT:  %partial = memref.alloc() : memref<3xf32, #gpu.address_space<workgroup>>
// SIMD-COUNT-5: gpu.shuffle xor
// SIMD:       gpu.lane_id
// SIMD:       scf.if
// SIMD-NEXT:    memref.store
// SIMD-NEXT:  }
// SIMD-NEXT:  gpu.barrier
// SIMD:       scf.for

// The second reduction waits until the first one's memory has been read.
func.func @twice(%x: memref<64xi32>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 64, 1, 1>} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<64xi32>
  %low = gpu.all_reduce minsi %v uniform {} : (i32) -> i32
  %high = gpu.all_reduce maxsi %v uniform {} : (i32) -> i32
  memref.store %low, %x[%t] : memref<64xi32>
  memref.store %high, %x[%t] : memref<64xi32>
  return
}
// TREE-LABEL: func.func @twice
// TREE-COUNT-1: memref.alloc
// TREE:       %low = memref.load %partial
// TREE-NEXT:  gpu.barrier
// TREE:       memref.store %v, %partial
// TREE:       %high = memref.load %partial

// Any combination of two values; 64-bit values travel in two words.
func.func @body(%x: memref<32xi64>) attributes {ingot.kernel, ingot.workgroup_size = array<i64: 32, 1, 1>} {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<32xi64>
  %r = gpu.all_reduce %v uniform {
  ^bb0(%a: i64, %b: i64):
    %c = arith.xori %a, %b : i64
    gpu.yield %c : i64
  } : (i64) -> i64
  memref.store %r, %x[%t] : memref<32xi64>
  return
}
// SIMD-LABEL: func.func @body
// SIMD-NOT:   memref.alloc
// SIMD:       arith.trunci %v : i64 to i32
// SIMD:       gpu.shuffle xor %{{.*}}, %{{.*}}, %{{.*}} : i32
// SIMD:       arith.xori
// SIMD-NOT:   gpu.barrier
