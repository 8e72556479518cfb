// y <- a x + y, with the scalar `a` as a tensor of rank 0.
#vector = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>

func.func @saxpy(%a: tensor<f32>, %x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<1000xf32> {
  %out = tensor.empty() : tensor<1000xf32>
  %r = linalg.generic {
      indexing_maps = [#scalar, #vector, #vector, #vector],
      iterator_types = ["parallel"]
    } ins(%a, %x, %y : tensor<f32>, tensor<1000xf32>, tensor<1000xf32>)
      outs(%out : tensor<1000xf32>) {
  ^bb0(%ai: f32, %xi: f32, %yi: f32, %o: f32):
    %p = arith.mulf %ai, %xi : f32
    %s = arith.addf %p, %yi : f32
    linalg.yield %s : f32
  } -> tensor<1000xf32>
  return %r : tensor<1000xf32>
}
