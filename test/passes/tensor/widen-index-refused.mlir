// RUN: ingot-opt %s -p 'widen-index' --verify-diagnostics

#id = affine_map<(d0) -> (d0)>

func.func @branch(%t: tensor<8xi64>) -> tensor<8xi64> {
  %e = tensor.empty() : tensor<8xi64>
  %true = arith.constant true
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : tensor<8xi64>) outs(%e : tensor<8xi64>) {
  ^bb0(%x: i64, %o: i64):
    %r = scf.if %true -> (index) {
      %i = arith.index_cast %x : i64 to index
      // expected-error@+1 {{an index that may need 64 bits leaves an scf.if}}
      scf.yield %i : index
    } else {
      %z = arith.constant 0 : index
      scf.yield %z : index
    }
    %s = arith.index_cast %r : index to i64
    linalg.yield %s : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}
