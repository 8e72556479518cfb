// RUN: ingot-opt %s -p 'linalg-differentiate{wrt=0}' --split-input-file --verify-diagnostics

// expected-error@+1 {{argument 0 of integers is a tensor<4xi32>: only floats have a gradient}}
func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  return %x : tensor<4xi32>
}

// -----

// expected-error@+1 {{function nothing has no argument 0}}
func.func @nothing() -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// expected-error@+1 {{argument 0 of open is a tensor<?xf32>: functions with dynamic shapes cannot be differentiated yet}}
func.func @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

func.func @no_rule(%x: tensor<4xf32>, %s: tensor<2xi32>) -> tensor<2x2xf32> {
  // expected-error@+1 {{tensor.reshape cannot be differentiated}}
  %r = tensor.reshape %x(%s) : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

func.func @running_average(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %h = arith.constant 0.5 : f32
  // expected-error@+1 {{result 0 of this reduction cannot be differentiated: its body is neither a sum nor a product of terms, and does not choose one of them}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%i : tensor<f32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    %m = arith.mulf %s, %h : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %b = arith.bitcast %in : f32 to i32
    // expected-error@+1 {{arith.bitcast cannot be differentiated: the bits of a float have no derivative}}
    %f = arith.bitcast %b : i32 to f32
    linalg.yield %f : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @loop_of_data_in_a_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %two = arith.constant 2.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    // expected-error@+1 {{scf.while inside a structured op cannot be differentiated: how often it runs depends on data}}
    %w = scf.while (%a = %in) : (f32) -> f32 {
      %c = arith.cmpf olt, %a, %two : f32
      scf.condition(%c) %a : f32
    } do {
    ^bb0(%a: f32):
      %d = arith.addf %a, %two : f32
      scf.yield %d : f32
    }
    linalg.yield %w : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @long_loop_in_a_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 65 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    // expected-error@+1 {{scf.for of 65 iterations inside a structured op cannot be differentiated: the most is 64}}
    %w = scf.for %i = %c0 to %n step %c1 iter_args(%a = %in) -> (f32) {
      %d = arith.addf %a, %in : f32
      scf.yield %d : f32
    }
    linalg.yield %w : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @computed_loop_in_a_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = linalg.index 0 : index
    // expected-error@+1 {{scf.for inside a structured op cannot be differentiated: how often it runs is not known here}}
    %w = scf.for %i = %c0 to %n step %c1 iter_args(%a = %in) -> (f32) {
      %d = arith.addf %a, %in : f32
      scf.yield %d : f32
    }
    linalg.yield %w : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @scan(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error@+1 {{ingot.scan of anything but a sum cannot be differentiated yet}}
  %s, %l = ingot.scan inclusive dimension = 0 ins(%x : tensor<4xf32>) outs(%e, %i : tensor<4xf32>, tensor<f32>) {
  ^bb0(%acc: f32, %in: f32):
    %p = arith.mulf %acc, %in : f32
    ingot.yield %p : f32
  }
  return %s : tensor<4xf32>
}

// -----

func.func @mixed_scan(%x: tensor<4xf16>, %i: tensor<f32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error@+1 {{ingot.scan of anything but a sum cannot be differentiated yet}}
  %s, %l = ingot.scan inclusive dimension = 0 ins(%x : tensor<4xf16>) outs(%e, %i : tensor<4xf32>, tensor<f32>) {
  ^bb0(%acc: f32, %in: f16):
    %w = arith.extf %in : f16 to f32
    %p = arith.addf %acc, %w : f32
    ingot.yield %p : f32
  }
  return %s : tensor<4xf32>
}

// -----

func.func @scatter(%x: tensor<4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{ingot.scatter that neither adds nor replaces cannot be differentiated}}
  %s = ingot.scatter dimensions = [0] ins(%i, %u : tensor<3x1xi32>, tensor<3xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%old: f32, %new: f32):
    %p = arith.mulf %old, %new : f32
    ingot.yield %p : f32
  }
  return %s : tensor<4xf32>
}

// -----

func.func @scatter_of_two(%x: tensor<4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{ingot.scatter into several tensors cannot be differentiated}}
  %s, %t = ingot.scatter dimensions = [0] ins(%i, %u, %u : tensor<3x1xi32>, tensor<3xf32>, tensor<3xf32>) outs(%x, %x : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    ingot.yield %c, %d : f32, f32
  }
  return %s : tensor<4xf32>
}

// -----

func.func @crop(%x: tensor<4xf32>) -> tensor<3xf32> {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{tensor.pad by amounts that are negative or computed cannot be differentiated}}
  %p = tensor.pad %x low[-1] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<4xf32> to tensor<3xf32>
  return %p : tensor<3xf32>
}

// -----

func.func @computed_padding(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{tensor.pad whose padding is computed cannot be differentiated}}
  %p = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    %v = tensor.extract %x[%i] : tensor<4xf32>
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %p : tensor<5xf32>
}

// -----

func.func @until(%x: tensor<f32>) -> tensor<f32> {
  %two = arith.constant 2.0 : f32
  // expected-error@+1 {{a loop that ends when its data says so cannot be differentiated: how often it runs is not known, so what it carries cannot be kept}}
  %r = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %v = tensor.extract %a[] : tensor<f32>
    %c = arith.cmpf olt, %v, %two : f32
    scf.condition(%c) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    scf.yield %a : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @computed_times(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = tensor.extract %n[] : tensor<index>
  // expected-error@+1 {{scf.for whose trip count is computed cannot be differentiated}}
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @carried_scalar(%x: tensor<f32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %start = tensor.extract %x[] : tensor<f32>
  // expected-error@+1 {{scf.for that carries a f32 cannot be differentiated}}
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %start) -> (f32) {
    %s = arith.mulf %a, %a : f32
    scf.yield %s : f32
  }
  %t = tensor.from_elements %r : tensor<f32>
  return %t : tensor<f32>
}

// -----

func.func @too_many(%x: tensor<65536xf32>, %i: tensor<f32>) -> tensor<f32> {
  %n = tensor.empty() : tensor<32768xf32>
  // expected-error@+1 {{an extreme of 2^31 elements or more cannot be differentiated}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x, %n : tensor<65536xf32>, tensor<32768xf32>) outs(%i : tensor<f32>) {
  ^bb0(%in: f32, %size: f32, %acc: f32):
    %m = arith.maximumf %acc, %in : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
