// Every op of tensor, pack, unpack and the structured ops with a form of their own.

func.func @splat(%s: tensor<f32>) -> tensor<3x5xf32> {
  %v = tensor.extract %s[] : tensor<f32>
  %r = tensor.splat %v : tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
func.func @from_elements(%a: tensor<3xf32>) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %x = tensor.extract %a[%c0] : tensor<3xf32>
  %y = tensor.extract %a[%c2] : tensor<3xf32>
  %z = arith.addf %x, %y : f32
  %r = tensor.from_elements %x, %y, %z, %x : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
func.func @generate(%a: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %a[%j, %i] : tensor<3x5xf32>
    %x = math.exp %e : f32
    tensor.yield %x : f32
  } : tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}
func.func @insert(%a: tensor<3x5xf32>, %s: tensor<f32>, %i: tensor<i32>) -> tensor<3x5xf32> {
  %v = tensor.extract %s[] : tensor<f32>
  %k = tensor.extract %i[] : tensor<i32>
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 0 : index
  %t = arith.index_cast %k : i32 to index
  %u = arith.remsi %t, %c1 : index
  %r = tensor.insert %v into %a[%u, %c3] : tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
func.func @slice_neg(%a: tensor<9xf32>) -> tensor<4xf32> {
  %r = tensor.extract_slice %a[8] [4] [-2] : tensor<9xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @insert_neg(%a: tensor<9xf32>, %b: tensor<4xf32>) -> tensor<9xf32> {
  %r = tensor.insert_slice %b into %a[8] [4] [-2] : tensor<4xf32> into tensor<9xf32>
  return %r : tensor<9xf32>
}
func.func @slice_rank_reduce(%a: tensor<4x5x6xf32>) -> tensor<3x5xf32> {
  %r = tensor.extract_slice %a[1, 0, 2] [3, 5, 1] [1, 1, 1] : tensor<4x5x6xf32> to tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
func.func @slice_rank_reduce_ambiguous(%a: tensor<4x5x6xf32>) -> tensor<1x5xf32> {
  %r = tensor.extract_slice %a[1, 0, 2] [1, 5, 1] [1, 1, 1] : tensor<4x5x6xf32> to tensor<1x5xf32>
  return %r : tensor<1x5xf32>
}
func.func @slice_dyn(%a: tensor<4x9xf32>, %i: tensor<i32>) -> tensor<2x3xf32> {
  %k = tensor.extract %i[] : tensor<i32>
  %t = arith.index_cast %k : i32 to index
  %c4 = arith.constant 4 : index
  %u = arith.remsi %t, %c4 : index
  %r = tensor.extract_slice %a[1, %u] [2, 3] [1, 2] : tensor<4x9xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
func.func @slice_dyn_stride(%a: tensor<4x9xf32>, %i: tensor<i32>) -> tensor<2x3xf32> {
  %k = tensor.extract %i[] : tensor<i32>
  %t = arith.index_cast %k : i32 to index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %u = arith.remsi %t, %c4 : index
  %v = arith.maxsi %u, %c1 : index
  %r = tensor.extract_slice %a[1, 0] [2, 3] [1, %v] : tensor<4x9xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
func.func @insert_dyn(%a: tensor<4x9xf32>, %b: tensor<2x3xf32>, %i: tensor<i32>) -> tensor<4x9xf32> {
  %k = tensor.extract %i[] : tensor<i32>
  %t = arith.index_cast %k : i32 to index
  %c4 = arith.constant 4 : index
  %u = arith.remsi %t, %c4 : index
  %r = tensor.insert_slice %b into %a[1, %u] [2, 3] [1, 2] : tensor<2x3xf32> into tensor<4x9xf32>
  return %r : tensor<4x9xf32>
}
func.func @insert_rank(%a: tensor<4x9xf32>, %b: tensor<9xf32>) -> tensor<4x9xf32> {
  %r = tensor.insert_slice %b into %a[2, 0] [1, 9] [1, 1] : tensor<9xf32> into tensor<4x9xf32>
  return %r : tensor<4x9xf32>
}
func.func @pad_body(%a: tensor<3x4xf32>) -> tensor<6x9xf32> {
  %r = tensor.pad %a low[1, 2] high[2, 3] {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %t = arith.index_cast %s : index to i32
    %f = arith.sitofp %t : i32 to f32
    tensor.yield %f : f32
  } : tensor<3x4xf32> to tensor<6x9xf32>
  return %r : tensor<6x9xf32>
}
func.func @pad_dyn(%a: tensor<3x4xf32>, %i: tensor<i32>) -> tensor<3x9xf32> {
  %k = tensor.extract %i[] : tensor<i32>
  %t = arith.index_cast %k : i32 to index
  %c4 = arith.constant 5 : index
  %u = arith.remsi %t, %c4 : index
  %w = arith.subi %c4, %u : index
  %cst = arith.constant 2.0 : f32
  %r = tensor.pad %a low[0, %u] high[0, %w] {
  ^bb0(%x: index, %j: index):
    tensor.yield %cst : f32
  } : tensor<3x4xf32> to tensor<3x9xf32>
  return %r : tensor<3x9xf32>
}
func.func @pad_neg(%a: tensor<7xf32>) -> tensor<7xf32> {
  %cst = arith.constant 2.0 : f32
  %r = tensor.pad %a low[2] high[-2] {
  ^bb0(%x: index):
    tensor.yield %cst : f32
  } : tensor<7xf32> to tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @reshape(%a: tensor<3x4xf32>) -> tensor<2x6xf32> {
  %s = arith.constant dense<[2, 6]> : tensor<2xi64>
  %r = tensor.reshape %a(%s) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}
func.func @concat(%a: tensor<3x4xf32>, %b: tensor<3x1xf32>) -> tensor<3x9xf32> {
  %r = tensor.concat dim(1) %a, %b, %a : (tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x4xf32>) -> tensor<3x9xf32>
  return %r : tensor<3x9xf32>
}
func.func @gather(%a: tensor<4x5x6xf32>, %i: tensor<2x3x2xi64>) -> tensor<2x3x5xf32> {
  %c3 = arith.constant dense<3> : tensor<2x3x2xi64>
  %j = arith.remsi %i, %c3 : tensor<2x3x2xi64>
  %r = tensor.gather %a[%j] gather_dims([0, 2]) : (tensor<4x5x6xf32>, tensor<2x3x2xi64>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @gather32(%a: tensor<4x5x6xf32>, %i0: tensor<2x3x2xi32>) -> (tensor<2x3x5xf32>, tensor<2x3x1x5x1xf32>) {
  %c3 = arith.constant dense<3> : tensor<2x3x2xi32>
  %i = arith.remsi %i0, %c3 : tensor<2x3x2xi32>
  %r = tensor.gather %a[%i] gather_dims([0, 2]) : (tensor<4x5x6xf32>, tensor<2x3x2xi32>) -> tensor<2x3x5xf32>
  %q = tensor.gather %a[%i] gather_dims([0, 2]) : (tensor<4x5x6xf32>, tensor<2x3x2xi32>) -> tensor<2x3x1x5x1xf32>
  return %r, %q : tensor<2x3x5xf32>, tensor<2x3x1x5x1xf32>
}
func.func @dim(%a: tensor<4x5xf32>) -> tensor<i64> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a, %c1 : tensor<4x5xf32>
  %k = tensor.rank %a : tensor<4x5xf32>
  %s = arith.addi %d, %k : index
  %i = arith.index_cast %s : index to i64
  %r = tensor.from_elements %i : tensor<i64>
  return %r : tensor<i64>
}
func.func @bitcast(%a: tensor<4x5xf32>) -> tensor<4x5xi32> {
  %r = tensor.bitcast %a : tensor<4x5xf32> to tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}
func.func @empty_slice(%a: tensor<4x5xf32>) -> tensor<0x5xf32> {
  %r = tensor.extract_slice %a[1, 0] [0, 5] [1, 1] : tensor<4x5xf32> to tensor<0x5xf32>
  return %r : tensor<0x5xf32>
}
func.func @cast(%a: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r = tensor.cast %a : tensor<4x5xf32> to tensor<?x5xf32>
  %q = tensor.cast %r : tensor<?x5xf32> to tensor<4x5xf32>
  %e = arith.addf %q, %q : tensor<4x5xf32>
  return %e : tensor<4x5xf32>
}
func.func @pack(%a: tensor<5x7xf32>) -> tensor<3x2x2x4xf32> {
  %e = tensor.empty() : tensor<3x2x2x4xf32>
  %z = arith.constant 0.0 : f32
  %r = linalg.pack %a padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<5x7xf32> -> tensor<3x2x2x4xf32>
  return %r : tensor<3x2x2x4xf32>
}
func.func @pack_outer(%a: tensor<8x6xf32>) -> tensor<3x2x4x2xf32> {
  %e = tensor.empty() : tensor<3x2x4x2xf32>
  %r = linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<8x6xf32> -> tensor<3x2x4x2xf32>
  return %r : tensor<3x2x4x2xf32>
}
func.func @unpack(%a: tensor<3x2x2x4xf32>) -> tensor<5x7xf32> {
  %e = tensor.empty() : tensor<5x7xf32>
  %r = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<3x2x2x4xf32> -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}
func.func @softmax(%a: tensor<5x7x3xf32>) -> tensor<5x7x3xf32> {
  %e = tensor.empty() : tensor<5x7x3xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<5x7x3xf32>) outs(%e : tensor<5x7x3xf32>) -> tensor<5x7x3xf32>
  return %r : tensor<5x7x3xf32>
}
func.func @reduce(%a: tensor<5x7x3xf32>, %i: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<5x7x3xf32>) outs(%i : tensor<7xf32>) dimensions = [0, 2]
  return %r : tensor<7xf32>
}
func.func @map(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %e = tensor.empty() : tensor<5x7xf32>
  %r = linalg.map { arith.addf } ins(%a, %b : tensor<5x7xf32>, tensor<5x7xf32>) outs(%e : tensor<5x7xf32>)
  return %r : tensor<5x7xf32>
}
func.func @contract(%a: tensor<5x7x3xf32>, %b: tensor<7x4x3xf32>, %o: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (k, n, l)>, affine_map<(m, n, k, l) -> (n, m)>] ins(%a, %b : tensor<5x7x3xf32>, tensor<7x4x3xf32>) outs(%o : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}
func.func @transpose_bcast(%a: tensor<5x7xf32>) -> tensor<7x3x5xf32> {
  %e = tensor.empty() : tensor<7x5xf32>
  %t = linalg.transpose ins(%a : tensor<5x7xf32>) outs(%e : tensor<7x5xf32>) permutation = [1, 0]
  %f = tensor.empty() : tensor<7x3x5xf32>
  %b = linalg.broadcast ins(%t : tensor<7x5xf32>) outs(%f : tensor<7x3x5xf32>) dimensions = [1]
  return %b : tensor<7x3x5xf32>
}
func.func @from_elements_many(%a: tensor<3xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %x = tensor.extract %a[%c0] : tensor<3xf32>
  %y = arith.addf %x, %x : f32
  %r = tensor.from_elements %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y : tensor<100xf32>
  return %r : tensor<100xf32>
}
func.func @constant_tensor_results(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xi32>, tensor<3xf32>, tensor<0x3xf32>) {
  %c = arith.constant dense<[1, 2]> : tensor<2xi32>
  %e = tensor.empty() : tensor<0x3xf32>
  return %a, %c, %a, %e : tensor<3xf32>, tensor<2xi32>, tensor<3xf32>, tensor<0x3xf32>
}
