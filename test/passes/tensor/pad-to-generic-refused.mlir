// RUN: ingot-opt %s -p 'pad-to-generic' --verify-diagnostics

func.func @dynamic(%x: tensor<?xf32>, %c: f32) -> tensor<?xf32> {
  // expected-error@+1 {{tensor.pad of a size that is computed at run time is not supported yet}}
  %0 = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}
