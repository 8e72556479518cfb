// RUN: ingot-opt %s -p 'convert-stablehlo' | filecheck %s

// Elementwise ops: one generic each; operands of rank 0 are read by every element.
// CHECK-LABEL: func.func @elementwise
// CHECK:         ins(%x, %y : tensor<4xf32>, tensor<4xf32>)
// CHECK:           arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:         indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>]
// CHECK:           arith.maximumf
// CHECK-NEXT:      arith.minimumf
func.func @elementwise(%x: tensor<4xf32>, %y: tensor<4xf32>, %low: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.clamp %low, %0, %low : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Unsigned integers become signless, and their ops unsigned; an attribute keeps the signature.
// CHECK-LABEL: func.func @unsigned
// CHECK-SAME:    (%x: tensor<4xi8>) -> tensor<4xf32>
// CHECK-SAME:    ingot.signature = (tensor<4xui8>) -> tensor<4xf32>
// CHECK:           arith.divui
// CHECK:           arith.uitofp
func.func @unsigned(%x: tensor<4xui8>) -> tensor<4xf32> {
  %0 = stablehlo.divide %x, %x : tensor<4xui8>
  %1 = stablehlo.convert %0 : (tensor<4xui8>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A constant that is broadcast is a fill, anything else a map.
// CHECK-LABEL: func.func @broadcasts
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<50x3xf32>)
// CHECK:         affine_map<(d0, d1) -> (d1)>
func.func @broadcasts(%x: tensor<3x1xf32>) -> (tensor<50x3xf32>, tensor<50x3xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<50x3xf32>
  %t = stablehlo.reshape %x : (tensor<3x1xf32>) -> tensor<3xf32>
  %1 = "stablehlo.broadcast_in_dim"(%t) {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<50x3xf32>
  return %0, %1 : tensor<50x3xf32>, tensor<50x3xf32>
}

// Small values that are known are computed here; f64 then leaves no trace.
// CHECK-LABEL: func.func @folded
// CHECK:         arith.constant dense<2.500000e+00> : tensor<f32>
func.func @folded() -> tensor<f32> {
  %c = stablehlo.constant dense<5> : tensor<1xi64>
  %two = stablehlo.constant dense<2.0> : tensor<f64>
  %0 = stablehlo.convert %c : (tensor<1xi64>) -> tensor<1xf64>
  %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
  %2 = stablehlo.divide %1, %two : tensor<f64>
  %3 = stablehlo.convert %2 : (tensor<f64>) -> tensor<f32>
  return %3 : tensor<f32>
}

// A size of 1 is read at 0.
// CHECK-LABEL: func.func @stretch
// CHECK:         affine_map<(d0, d1) -> (0, d1)>
func.func @stretch(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @moves
// CHECK:         affine_map<(d0, d1) -> (d1, d0)>
// CHECK:         affine_map<(d0, d1) -> (((d0 * -1) + 2), d1)>
// CHECK:         tensor.extract_slice %{{.*}}[1, 0] [2, 1] [1, 2]
func.func @moves(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<3x2xf32>
  %2 = stablehlo.slice %1 [1:3, 0:2:2] : (tensor<3x2xf32>) -> tensor<2x1xf32>
  return %2 : tensor<2x1xf32>
}

// Start indices are limited in their own type, then become indices.
// CHECK-LABEL: func.func @dynamic_slice
// CHECK:           arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK:           arith.minsi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:      arith.index_castui %{{.*}} : i64 to index
// CHECK:           tensor.extract %x
func.func @dynamic_slice(%x: tensor<8xf32>, %i: tensor<i64>) -> tensor<3xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [3] : (tensor<8xf32>, tensor<i64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Operands are converted by their own sign before they are multiplied.
// CHECK-LABEL: func.func @dot
// CHECK:         iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK:           arith.extsi %{{.*}} : i8 to i32
// CHECK:           arith.extui %{{.*}} : i8 to i32
func.func @dot(%x: tensor<2x3x4xi8>, %y: tensor<2x4x5xui8>) -> tensor<2x3x5xi32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xi8>, tensor<2x4x5xui8>) -> tensor<2x3x5xi32>
  return %0 : tensor<2x3x5xi32>
}

// A body may take several operands.
// CHECK-LABEL: func.func @reduce
// CHECK:         ins(%x, %i : tensor<4x8xf32>, tensor<4x8xi32>)
// CHECK:           arith.cmpf ogt
// CHECK:           linalg.yield %{{.*}}, %{{.*}} : f32, i32
func.func @reduce(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %a = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %b = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %a), (%i init: %b) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%l: tensor<f32>, %r: tensor<f32>) (%li: tensor<i32>, %ri: tensor<i32>) {
    %c = stablehlo.compare GT, %l, %r, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %c, %l, %r : tensor<i1>, tensor<f32>
    %w = stablehlo.select %c, %li, %ri : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// A running sum is a scan, whichever way it runs; other windows are loops.
// CHECK-LABEL: func.func @windows
// CHECK:         ingot.scan inclusive dimension = 0
// CHECK:         affine_map<(d0, d1) -> (((d0 * 2) + d1))>
func.func @windows(%x: tensor<8xi32>) -> (tensor<8xi32>, tensor<4xi32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1 : tensor<8xi32>, tensor<4xi32>
}

// Groups are a loop of their own.
// CHECK-LABEL: func.func @convolution
// CHECK:         tensor.expand_shape
// CHECK:         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @convolution(%x: tensor<1x8x6xf32>, %w: tensor<3x3x4xf32>) -> tensor<1x6x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x6xf32>, tensor<3x3x4xf32>) -> tensor<1x6x4xf32>
  return %0 : tensor<1x6x4xf32>
}

// Each component of the indices is an input: what computes them fuses.
// CHECK-LABEL: func.func @gather
// CHECK:         affine_map<(d0, d1) -> (d0, 0)>
// CHECK:           tensor.extract %x
func.func @gather(%x: tensor<10x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Complex numbers are left to expand-complex.
// CHECK-LABEL: func.func @complex
// CHECK:         %[[P:.*]] = complex.mul %{{.*}}, %{{.*}} : complex<f32>
// CHECK-NEXT:    linalg.yield %[[P]] : complex<f32>
func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.multiply %x, %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// What only a custom call names goes with it; markers vanish.
// CHECK-NOT:   @descending
// CHECK-LABEL: func.func @custom
// CHECK:         ingot.sort
func.func @descending(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @custom(%x: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %m = stablehlo.custom_call @Sharding(%x) {backend_config = ""} : (tensor<8xf32>) -> tensor<8xf32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%m, %i, %low, %none) {called_computations = [@descending], mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// Sizes are scalars of the host, of which other tensors are made.
// CHECK-LABEL: func.func @sized
// CHECK:         %[[N:.*]] = tensor.dim %x
// CHECK-NOT:     tensor.from_elements
// CHECK:         tensor.empty(%[[N]]) : tensor<?x2xf32>
// CHECK:         linalg.generic
// CHECK-SAME:    -> (d0)
func.func @sized(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %m, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// Control flow on tensors becomes that of scf.
// CHECK-LABEL: func.func @control
// CHECK:         scf.while
// CHECK:           scf.condition
// CHECK:         scf.if
func.func @control(%n: tensor<i32>) -> tensor<i32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %z) : tensor<i32> cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %k = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %k : tensor<i32>
  }
  %p = stablehlo.compare LT, %0, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %n : tensor<i32>
  }, {
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  return %1 : tensor<i32>
}

// A window that is smaller than its dimension becomes indices.
// CHECK-LABEL: func.func @scatter
// CHECK:         tensor<2x3x2xi32>
// CHECK:         ingot.scatter dimensions = [0, 1] ins(%{{.*}}, %u : tensor<2x3x2xi32>, tensor<2x3x4xf32>) outs(%x : tensor<9x5x4xf32>)
func.func @scatter(%x: tensor<9x5x4xf32>, %i: tensor<2x1xi32>, %u: tensor<2x3x4xf32>) -> tensor<9x5x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9x5x4xf32>, tensor<2x1xi32>, tensor<2x3x4xf32>) -> tensor<9x5x4xf32>
  return %0 : tensor<9x5x4xf32>
}

// CHECK-LABEL: func.func @sort
// CHECK:         ingot.sort dimension = 0 ins(%x : tensor<8xf32>)
// CHECK:         ingot.sort dimension = 0 ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xi32>)
// CHECK:         tensor.extract_slice
func.func @sort(%x: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  %v, %i = chlo.top_k(%0, k = 2) : tensor<8xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return %v, %i : tensor<2xf32>, tensor<2xi32>
}
