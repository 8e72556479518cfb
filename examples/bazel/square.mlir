func.func @square(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.mulf %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
