// RUN: ingot-opt %s -p 'widen-index' | filecheck %s

#id = affine_map<(d0) -> (d0)>

// A number from data, computed with: all of it in i64.
// CHECK-LABEL: func.func @square
// CHECK:         ^bb0(%[[X:.*]]: i64, %{{.*}}: i64):
// CHECK-NEXT:      %[[R:.*]] = arith.muli %[[X]], %[[X]] : i64
// CHECK-NEXT:      linalg.yield %[[R]]
func.func @square(%t: tensor<8xi64>) -> tensor<8xi64> {
  %e = tensor.empty() : tensor<8xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : tensor<8xi64>) outs(%e : tensor<8xi64>) {
  ^bb0(%x: i64, %o: i64):
    %i = arith.index_cast %x : i64 to index
    %j = arith.muli %i, %i : index
    %r = arith.index_cast %j : index to i64
    linalg.yield %r : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// What loops and constants bound stays an index.
// CHECK-LABEL: func.func @bounded
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[J:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK-NEXT:      %{{.*}} = arith.remui %[[J]], %{{.*}} : index
func.func @bounded() -> tensor<8xi64> {
  %e = tensor.empty() : tensor<8xi64>
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.muli %i, %c3 : index
    %k = arith.remui %j, %c5 : index
    %r = arith.index_cast %k : index to i64
    linalg.yield %r : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// A product of loop indices that 32 bits do not hold.
// CHECK-LABEL: func.func @large
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[W:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK:           arith.muli %[[W]], %{{.*}} : i64
func.func @large() -> tensor<100000xi64> {
  %e = tensor.empty() : tensor<100000xi64>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<100000xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.muli %i, %i : index
    %r = arith.index_cast %j : index to i64
    linalg.yield %r : i64
  } -> tensor<100000xi64>
  return %0 : tensor<100000xi64>
}

// An index that only chooses an element stays; one that is computed with comes back to choose.
// CHECK-LABEL: func.func @gather
// CHECK:           %[[I:.*]] = arith.index_cast %[[X:.*]] : i64 to index
// CHECK-NEXT:      %{{.*}} = tensor.extract %{{.*}}[%[[I]]]
// CHECK-NEXT:      %[[D:.*]] = arith.divsi %[[X]], %[[X]] : i64
// CHECK-NEXT:      %[[J:.*]] = arith.index_cast %[[D]] : i64 to index
// CHECK-NEXT:      %{{.*}} = tensor.extract %{{.*}}[%[[J]]]
func.func @gather(%t: tensor<8xi64>, %table: tensor<9xi64>) -> tensor<8xi64> {
  %e = tensor.empty() : tensor<8xi64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : tensor<8xi64>) outs(%e : tensor<8xi64>) {
  ^bb0(%x: i64, %o: i64):
    %i = arith.index_cast %x : i64 to index
    %a = tensor.extract %table[%i] : tensor<9xi64>
    %k = arith.index_cast %x : i64 to index
    %j = arith.divsi %k, %k : index
    %b = tensor.extract %table[%j] : tensor<9xi64>
    %r = arith.addi %a, %b : i64
    linalg.yield %r : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}
