// RUN: ingot-opt %s -p 'store-index' | filecheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @body(%x: tensor<4xi64>) -> tensor<4xi64>
// CHECK:         ^bb0(%[[A:.*]]: i64, %{{.*}}: i64):
// CHECK:           %[[I:.*]] = arith.index_cast %[[A]] : i64 to index
// CHECK:           %[[S:.*]] = arith.addi %[[I]], %[[I]] : index
// CHECK-NEXT:      %[[R:.*]] = arith.index_cast %[[S]] : index to i64
// CHECK-NEXT:      linalg.yield %[[R]] : i64
func.func @body(%x: tensor<4xindex>) -> tensor<4xindex> {
  %e = tensor.empty() : tensor<4xindex>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xindex>) outs(%e : tensor<4xindex>) {
  ^bb0(%a: index, %o: index):
    %s = arith.addi %a, %a : index
    linalg.yield %s : index
  } -> tensor<4xindex>
  return %0 : tensor<4xindex>
}

// An element that is taken out is an index; one that is put in becomes an i64; positions stay.
// CHECK-LABEL: func.func @elements
// CHECK:         %[[V:.*]] = tensor.extract %x[%{{.*}}] : tensor<4xi64>
// CHECK-NEXT:    %[[I:.*]] = arith.index_cast %[[V]] : i64 to index
// CHECK:         %[[W:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:    tensor.insert %[[W]] into %x[%[[I]]] : tensor<4xi64>
// CHECK:         arith.constant dense<[3, 1]> : tensor<2xi64>
func.func @elements(%x: tensor<4xindex>) -> (tensor<4xindex>, tensor<2xindex>) {
  %c1 = arith.constant 1 : index
  %v = tensor.extract %x[%c1] : tensor<4xindex>
  %0 = tensor.insert %v into %x[%v] : tensor<4xindex>
  %1 = arith.constant dense<[3, 1]> : tensor<2xindex>
  return %0, %1 : tensor<4xindex>, tensor<2xindex>
}
