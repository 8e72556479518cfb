// RUN: ingot-opt %s -p 'dispatch-pack-inputs{max-buffers=4}' | filecheck %s

// Five buffers where a kernel has four: the two smallest inputs are read from one tensor,
// in which no row starts at 0: a loop that is an index by itself runs over a whole dimension.
// CHECK-LABEL: func.func @sum
// CHECK:         [[P:%.*]] = tensor.concat dim(0) %b, %b, %c : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ((d1 + 4))>, affine_map<(d0, d1) -> ((d1 + 8))>
// CHECK-SAME:      ins(%a, [[P]], [[P]] : tensor<8x4xf32>, tensor<12xf32>, tensor<12xf32>)
// CHECK:           tensor.extract %d[
func.func @sum(%a: tensor<8x4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<9xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a, %b, %c : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %d[%i] : tensor<9xf32>
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %z : f32
    %u = arith.addf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
