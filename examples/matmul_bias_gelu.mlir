// A dense layer: gelu(x w + b), with the tanh form of GELU; no size is a multiple of a tile.
#full = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

func.func @dense(%x: tensor<65x127xf32>, %w: tensor<127x200xf32>, %b: tensor<200xf32>)
    -> tensor<65x200xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cubic = arith.constant 4.471500e-02 : f32
  %root = arith.constant 0.797884583 : f32
  %matrix = tensor.empty() : tensor<65x200xf32>
  %init = linalg.fill ins(%zero : f32) outs(%matrix : tensor<65x200xf32>) -> tensor<65x200xf32>
  %product = linalg.matmul ins(%x, %w : tensor<65x127xf32>, tensor<127x200xf32>)
                           outs(%init : tensor<65x200xf32>) -> tensor<65x200xf32>
  %r = linalg.generic {
      indexing_maps = [#full, #column, #full], iterator_types = ["parallel", "parallel"]
    } ins(%product, %b : tensor<65x200xf32>, tensor<200xf32>) outs(%matrix : tensor<65x200xf32>) {
  ^bb0(%p: f32, %bias: f32, %o: f32):
    %v = arith.addf %p, %bias : f32
    %v2 = arith.mulf %v, %v : f32
    %v3 = arith.mulf %v2, %v : f32
    %c = arith.mulf %v3, %cubic : f32
    %inner = arith.addf %v, %c : f32
    %z = arith.mulf %inner, %root : f32
    %t = math.tanh %z : f32
    %u = arith.addf %t, %one : f32
    %h = arith.mulf %v, %half : f32
    %y = arith.mulf %h, %u : f32
    linalg.yield %y : f32
  } -> tensor<65x200xf32>
  return %r : tensor<65x200xf32>
}
