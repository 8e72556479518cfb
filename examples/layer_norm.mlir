// Layer norm over the last dimension: (x - mean) / sqrt(variance + 1e-5) * scale + shift.
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

func.func @layer_norm(%x: tensor<32x768xf32>, %scale: tensor<768xf32>, %shift: tensor<768xf32>)
    -> tensor<32x768xf32> {
  %zero = arith.constant 0.0 : f32
  %length = arith.constant 768.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %rows = tensor.empty() : tensor<32xf32>
  %matrix = tensor.empty() : tensor<32x768xf32>
  %init = linalg.fill ins(%zero : f32) outs(%rows : tensor<32xf32>) -> tensor<32xf32>

  %sum = linalg.generic {
      indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]
    } ins(%x : tensor<32x768xf32>) outs(%init : tensor<32xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>

  %squares = linalg.generic {
      indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]
    } ins(%x, %sum : tensor<32x768xf32>, tensor<32xf32>) outs(%init : tensor<32xf32>) {
  ^bb0(%in: f32, %total: f32, %acc: f32):
    %mean = arith.divf %total, %length : f32
    %d = arith.subf %in, %mean : f32
    %d2 = arith.mulf %d, %d : f32
    %s = arith.addf %d2, %acc : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>

  %r = linalg.generic {
      indexing_maps = [#full, #row, #row, #column, #column, #full],
      iterator_types = ["parallel", "parallel"]
    } ins(%x, %sum, %squares, %scale, %shift
          : tensor<32x768xf32>, tensor<32xf32>, tensor<32xf32>, tensor<768xf32>, tensor<768xf32>)
      outs(%matrix : tensor<32x768xf32>) {
  ^bb0(%in: f32, %total: f32, %sq: f32, %g: f32, %b: f32, %o: f32):
    %mean = arith.divf %total, %length : f32
    %d = arith.subf %in, %mean : f32
    %variance = arith.divf %sq, %length : f32
    %stable = arith.addf %variance, %epsilon : f32
    %factor = math.rsqrt %stable : f32
    %normal = arith.mulf %d, %factor : f32
    %scaled = arith.mulf %normal, %g : f32
    %y = arith.addf %scaled, %b : f32
    linalg.yield %y : f32
  } -> tensor<32x768xf32>
  return %r : tensor<32x768xf32>
}
