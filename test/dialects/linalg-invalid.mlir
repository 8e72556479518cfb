// RUN: ingot-opt %s --split-input-file --verify-diagnostics

func.func @index_of_no_loop(%x: tensor<4xindex>) -> tensor<4xindex> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<4xindex>) {
  ^bb0(%out: index):
    // expected-error@+1 {{'linalg.index' op names loop 1, but the loops around it are 0 to 0}}
    %i = linalg.index 1 : index
    linalg.yield %i : index
  } -> tensor<4xindex>
  return %r : tensor<4xindex>
}
