// Softmax over the rows of a matrix, with the usual shift by the row's maximum.
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

func.func @softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<64xf32>
  %matrix = tensor.empty() : tensor<64x1000xf32>

  %m0 = linalg.fill ins(%lowest : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {
      indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]
    } ins(%x : tensor<64x1000xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %m = arith.maximumf %in, %acc : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>

  %exp = linalg.generic {
      indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]
    } ins(%x, %max : tensor<64x1000xf32>, tensor<64xf32>) outs(%matrix : tensor<64x1000xf32>) {
  ^bb0(%in: f32, %m: f32, %o: f32):
    %d = arith.subf %in, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<64x1000xf32>

  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {
      indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]
    } ins(%exp : tensor<64x1000xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>

  %r = linalg.generic {
      indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]
    } ins(%exp, %sum : tensor<64x1000xf32>, tensor<64xf32>) outs(%matrix : tensor<64x1000xf32>) {
  ^bb0(%e: f32, %s: f32, %o: f32):
    %q = arith.divf %e, %s : f32
    linalg.yield %q : f32
  } -> tensor<64x1000xf32>
  return %r : tensor<64x1000xf32>
}
