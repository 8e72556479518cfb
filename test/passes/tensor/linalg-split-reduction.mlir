// RUN: ingot-opt %s -p 'linalg-split-reduction' | filecheck %s

// CHECK-LABEL: func.func @whole_chunks
// CHECK:         linalg.fill ins({{%.*}} : f32) outs({{%.*}} : tensor<256xf32>)
// CHECK:         [[P:%.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ((d0 + (d1 * 4096)))>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x, {{%.*}} : tensor<1048576xf32>, tensor<256x4096xf32>)
// CHECK:         %s = linalg.generic {{.*}} ins([[P]] : tensor<256xf32>) outs(%i : tensor<f32>)
// CHECK:         return %s
func.func @whole_chunks(%x: tensor<1048576xf32>, %i: tensor<f32>) -> tensor<f32> {
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<1048576xf32>) outs(%i : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.addf %acc, %a : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// What is left behind the chunks is reduced by itself.
// CHECK-LABEL: func.func @with_a_rest
// CHECK:         affine_map<(d0, d1) -> ((d0 + (d1 * 4117)))>
// CHECK:         [[R:%.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (((d0 + d1) + 69989))>
// CHECK:         outs([[R]] : tensor<i32>)
func.func @with_a_rest(%x: tensor<70001xi32>, %i: tensor<i32>) -> tensor<i32> {
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<70001xi32>) outs(%i : tensor<i32>) {
  ^bb0(%a: i32, %acc: i32):
    %n = arith.maxsi %acc, %a : i32
    linalg.yield %n : i32
  } -> tensor<i32>
  return %s : tensor<i32>
}

// The positions that a body computes with stay those of the source.
// CHECK-LABEL: func.func @positions
// CHECK:           [[I:%.*]] = linalg.index 0 : index
// CHECK:           [[C:%.*]] = linalg.index 1 : index
// CHECK:           arith.muli [[C]]
// CHECK:           arith.addi
func.func @positions(%i: tensor<i32>, %x: tensor<131072xi32>) -> tensor<i32> {
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<131072xi32>) outs(%i : tensor<i32>) {
  ^bb0(%a: i32, %acc: i32):
    %p = linalg.index 0 : index
    %q = arith.index_cast %p : index to i32
    %m = arith.muli %a, %q : i32
    %n = arith.addi %acc, %m : i32
    linalg.yield %n : i32
  } -> tensor<i32>
  return %s : tensor<i32>
}

// CHECK-LABEL: func.func @many_results
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @many_results(%x: tensor<64x70000xf32>, %i: tensor<64xf32>) -> tensor<64xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x70000xf32>) outs(%i : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.addf %acc, %a : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// Results that lie side by side do so in each chunk, too.
// CHECK-LABEL: func.func @columns
// CHECK:         [[P:%.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> ((d1 + (d2 * 1024)), d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d2, d0)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, {{%.*}} : tensor<65536x64xf32>, tensor<64x1024xf32>) outs({{%.*}} : tensor<64x64xf32>)
// CHECK:         %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins([[P]] : tensor<64x64xf32>) outs(%i : tensor<64xf32>)
func.func @columns(%x: tensor<65536x64xf32>, %i: tensor<64xf32>) -> tensor<64xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<65536x64xf32>) outs(%i : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.addf %acc, %a : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// A body that is no combiner keeps its order: three turns, one after another, each over a copy of a
// range. They read where they are, so that they are one kernel.
// CHECK-LABEL: func.func @no_plain_combiner
// CHECK:         arith.constant dense<[0, -1]> : tensor<2xi32>
// CHECK:           tensor.extract %x
// CHECK:         [[A:%.*]] = linalg.generic {{.*}} ins({{%.*}} : tensor<32768xf32>, tensor<2xi32>) outs(%i
// CHECK:         arith.constant dense<[32768, -1]> : tensor<2xi32>
// CHECK:           tensor.extract %x
// CHECK:         [[B:%.*]] = linalg.generic {{.*}} ins({{%.*}} : tensor<32768xf32>, tensor<2xi32>) outs([[A]]
// CHECK:         arith.constant dense<[65536, -1]> : tensor<2xi32>
// CHECK:         %s = linalg.generic {{.*}} ins({{%.*}} : tensor<4464xf32>, tensor<2xi32>) outs([[B]]
// CHECK:         return %s
func.func @no_plain_combiner(%x: tensor<70000xf32>, %i: tensor<f32>) -> tensor<f32> {
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<70000xf32>) outs(%i : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %n = arith.subf %acc, %a : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// A long product too narrow for tiles is summed in turns; short floats are kept in f32 between them.
// CHECK-LABEL: func.func @long_product
// CHECK:         linalg.generic {{.*}} ins(%i : tensor<7x50xf16>)
// CHECK:           arith.extf
// CHECK:         [[A:%.*]] = linalg.generic {{.*}} ins({{%.*}} : tensor<7x32768xf16>, tensor<32768x50xf16>) outs({{%.*}} : tensor<7x50xf32>)
// CHECK:         [[B:%.*]] = linalg.generic {{.*}} ins({{%.*}} : tensor<7x7232xf16>, tensor<7232x50xf16>) outs([[A]] : tensor<7x50xf32>)
// CHECK:         %s = linalg.generic {{.*}} ins([[B]] : tensor<7x50xf32>)
// CHECK:           arith.truncf
func.func @long_product(%x: tensor<7x40000xf16>, %y: tensor<40000x50xf16>, %i: tensor<7x50xf16>) -> tensor<7x50xf16> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<7x40000xf16>, tensor<40000x50xf16>) outs(%i : tensor<7x50xf16>) {
  ^bb0(%a: f16, %b: f16, %acc: f16):
    %p = arith.mulf %a, %b : f16
    %n = arith.addf %acc, %p : f16
    linalg.yield %n : f16
  } -> tensor<7x50xf16>
  return %s : tensor<7x50xf16>
}
