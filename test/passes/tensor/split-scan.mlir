// RUN: ingot-opt %s -p 'split-scan' | filecheck %s

// CHECK-LABEL: func.func @blocks
// CHECK:         [[B:%.*]] = tensor.expand_shape %x {{.*}} : tensor<65536xf32> into tensor<256x256xf32>
// CHECK:         [[I:%.*]], [[T:%.*]] = ingot.scan inclusive dimension = 1 ins([[B]] : tensor<256x256xf32>)
// CHECK:         [[O:%.*]], %l = ingot.scan dimension = 0 ins([[T]] : tensor<256xf32>) outs({{%.*}}, %i : tensor<256xf32>, tensor<f32>)
// CHECK:         linalg.generic {{.*}} ins([[O]], [[I]] : tensor<256xf32>, tensor<256x256xf32>)
// CHECK:         return {{%.*}}, %l
func.func @blocks(%x: tensor<65536xf32>, %i: tensor<f32>) -> (tensor<65536xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<65536xf32>
  %s, %l = ingot.scan inclusive dimension = 0 ins(%x : tensor<65536xf32>) outs(%e, %i : tensor<65536xf32>, tensor<f32>) {
  ^bb0(%acc: f32, %a: f32):
    %n = arith.addf %acc, %a : f32
    ingot.yield %n : f32
  }
  return %s, %l : tensor<65536xf32>, tensor<f32>
}

// The last block is filled up with what changes nothing.
// CHECK-LABEL: func.func @padded
// CHECK:         arith.constant -2147483648 : i32
// CHECK:         tensor.pad %x low[0, 0] high[0, 32]
// CHECK:         tensor.extract_slice
func.func @padded(%x: tensor<3x4000xi32>, %i: tensor<3xi32>) -> tensor<3x4000xi32> {
  %e = tensor.empty() : tensor<3x4000xi32>
  %s, %l = ingot.scan dimension = 1 ins(%x : tensor<3x4000xi32>) outs(%e, %i : tensor<3x4000xi32>, tensor<3xi32>) {
  ^bb0(%acc: i32, %a: i32):
    %n = arith.maxsi %acc, %a : i32
    ingot.yield %n : i32
  }
  return %s : tensor<3x4000xi32>
}

// A body that is not known to be associative keeps its order.
// CHECK-LABEL: func.func @not_associative
// CHECK:         [[A:%.*]] = tensor.extract_slice %x[0] [32768] [1]
// CHECK:         [[S:%.*]], [[L:%.*]] = ingot.scan dimension = 0 ins([[A]] : tensor<32768xf32>) outs({{%.*}}, %i
// CHECK:         [[T:%.*]], {{%.*}} = ingot.scan dimension = 0 {{.*}} outs({{%.*}}, [[L]]
// CHECK:         tensor.concat dim(0) [[S]], [[T]]
func.func @not_associative(%x: tensor<65536xf32>, %i: tensor<f32>) -> tensor<65536xf32> {
  %e = tensor.empty() : tensor<65536xf32>
  %s, %l = ingot.scan dimension = 0 ins(%x : tensor<65536xf32>) outs(%e, %i : tensor<65536xf32>, tensor<f32>) {
  ^bb0(%acc: f32, %a: f32):
    %n = arith.subf %acc, %a : f32
    ingot.yield %n : f32
  }
  return %s : tensor<65536xf32>
}

// A line of any length: each element takes what lies 1, 2, 4 ... before it.
// CHECK-LABEL: func.func @any_length
// CHECK:         math.ctlz
// CHECK:         scf.for [[S:%[0-9]+]] = {{.*}} iter_args([[H:%[0-9]+]] = %x) -> (tensor<?xf32>)
// CHECK:           [[D:%.*]] = arith.shli {{.*}}, [[S]] : index
// CHECK:           linalg.generic {{.*}} ins([[H]] : tensor<?xf32>)
// CHECK:             arith.subi {{.*}}, [[D]] : index
// CHECK:             tensor.extract [[H]]
// CHECK:           scf.yield
// CHECK-NOT:     ingot.scan
func.func @any_length(%x: tensor<?xf32>, %e: tensor<?xf32>, %i: tensor<f32>) -> tensor<?xf32> {
  %s, %l = ingot.scan inclusive dimension = 0 ins(%x : tensor<?xf32>) outs(%e, %i : tensor<?xf32>, tensor<f32>) {
  ^bb0(%acc: f32, %a: f32):
    %n = arith.addf %acc, %a : f32
    ingot.yield %n : f32
  }
  return %s : tensor<?xf32>
}
