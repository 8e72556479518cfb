// RUN: ingot-opt %s -p 'dispatch-form,dispatch-outline,kernel-select-schedule{target="vulkan:generic"},kernel-tile-threadgroups,kernel-bufferize,kernel-vectorize,canonicalize,cse' | filecheck %s

// A thread computes a row: keys and values come through threadgroup memory, four keys at a time; the
// sums are scaled when the maximum grows, and divided at the end. No score is stored.
// CHECK-LABEL: func.func private @f_attention
// CHECK-DAG:     %[[KEYS:.*]] = memref.alloc() : memref<{{.*}}x4xf32, #gpu.address_space<workgroup>>
// CHECK-DAG:     %[[VALUES:.*]] = memref.alloc() : memref<{{.*}}x8xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[QUERY:.*]] = vector.transfer_read %{{q|arg0}}
// CHECK:         vector.transfer_write %{{.*}}, %[[KEYS]]
// CHECK:         vector.transfer_write %{{.*}}, %[[VALUES]]
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for
// CHECK-COUNT-4:   vector.transfer_read %[[KEYS]]
// CHECK-COUNT-4:   arith.maximumf
// CHECK-COUNT-5:   math.exp
// CHECK:           vector.transfer_read %[[VALUES]]
// CHECK:         arith.divf
// CHECK:         vector.transfer_write %{{.*}}, %out
// CHECK-NOT:     memref<2x8x16xf32>
func.func @f(%q: tensor<2x8x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x6xf32>)
    -> tensor<2x8x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %none = arith.constant 0xFF800000 : f32
  %big = tensor.empty() : tensor<2x8x16xf32>
  %row = tensor.empty() : tensor<2x8xf32>
  %out = tensor.empty() : tensor<2x8x6xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%big : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %row0 = linalg.fill ins(%zero : f32) outs(%row : tensor<2x8xf32>) -> tensor<2x8xf32>
  %rowm = linalg.fill ins(%none : f32) outs(%row : tensor<2x8xf32>) -> tensor<2x8xf32>
  %out0 = linalg.fill ins(%zero : f32) outs(%out : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(b, q, k, d) -> (b, q, d)>,
      affine_map<(b, q, k, d) -> (b, k, d)>, affine_map<(b, q, k, d)
      -> (b, q, k)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q,
      %k : tensor<2x8x4xf32>, tensor<2x16x4xf32>) outs(%zeros : tensor<2x8x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %n = arith.addf %acc, %p : f32
    linalg.yield %n : f32
  } -> tensor<2x8x16xf32>
  %logits = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores : tensor<2x8x16xf32>)
      outs(%big : tensor<2x8x16xf32>) {
  ^bb0(%s: f32, %acc: f32):
    %l = arith.mulf %s, %half : f32
    linalg.yield %l : f32
  } -> tensor<2x8x16xf32>
  %most = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%logits : tensor<2x8x16xf32>) outs(%rowm : tensor<2x8xf32>) {
  ^bb0(%s: f32, %acc: f32):
    %n = arith.maximumf %acc, %s : f32
    linalg.yield %n : f32
  } -> tensor<2x8xf32>
  %exps = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q)>, affine_map<(b, q, k) -> (b, q, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%logits,
      %most : tensor<2x8x16xf32>, tensor<2x8xf32>) outs(%big : tensor<2x8x16xf32>) {
  ^bb0(%s: f32, %m: f32, %acc: f32):
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<2x8x16xf32>
  %total = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exps : tensor<2x8x16xf32>) outs(%row0 : tensor<2x8xf32>) {
  ^bb0(%s: f32, %acc: f32):
    %n = arith.addf %acc, %s : f32
    linalg.yield %n : f32
  } -> tensor<2x8xf32>
  %weights = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q)>, affine_map<(b, q, k) -> (b, q, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%exps,
      %total : tensor<2x8x16xf32>, tensor<2x8xf32>) outs(%big : tensor<2x8x16xf32>) {
  ^bb0(%e: f32, %t: f32, %acc: f32):
    %w = arith.divf %e, %t : f32
    linalg.yield %w : f32
  } -> tensor<2x8x16xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(b, q, d, k) -> (b, q, k)>,
      affine_map<(b, q, d, k) -> (b, k, d)>, affine_map<(b, q, d, k)
      -> (b, q, d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%weights,
      %v : tensor<2x8x16xf32>, tensor<2x16x6xf32>) outs(%out0 : tensor<2x8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %n = arith.addf %acc, %p : f32
    linalg.yield %n : f32
  } -> tensor<2x8x6xf32>
  return %o : tensor<2x8x6xf32>
}
