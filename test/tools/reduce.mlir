// RUN: ingot reduce %s --test %S/Inputs/contains.sh --test-arg math.exp -j 3 -o %t.mlir 2>&1 | filecheck %s --check-prefix=PROGRESS
// RUN: filecheck %s < %t.mlir

// The result is what the script needs, in the smallest types, and nothing else.
// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @main(%{{.*}}: tensor<1x1xf32>) {
// CHECK-NEXT:     linalg.generic
// CHECK-NEXT:     ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:       %[[EXP:.*]] = math.exp %[[IN]] : f32
// CHECK-NEXT:       linalg.yield %[[EXP]] : f32
// CHECK-NEXT:     } -> tensor<1x1xf32>
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }
// CHECK-NEXT: }

// PROGRESS: ops, {{[0-9]+}} bytes after {{[0-9]+}} trials: functions
// PROGRESS: 15 ops, {{[0-9]+}} bytes became 5 ops, {{[0-9]+}} bytes in {{[0-9]+}} trials; nothing more can be taken
// PROGRESS: still interesting: the test script says so


func.func @unused(%x: f32) -> f32 {
  return %x : f32
}

func.func @main(%x: tensor<64x32xf32>, %n: i32) -> (tensor<64x32xf32>, i32) {
  %one = arith.constant 1 : i32
  %next = arith.addi %n, %one : i32
  %e = tensor.empty() : tensor<64x32xf32>
  %0 = linalg.add ins(%x, %x : tensor<64x32xf32>, tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %in : f32
    %t = math.exp %s : f32
    %u = arith.subf %t, %s : f32
    linalg.yield %u : f32
  } -> tensor<64x32xf32>
  return %1, %next : tensor<64x32xf32>, i32
}
