// RUN: ingot-opt %s -p 'drop-signedness' | filecheck %s

// Casts between unsigned and signless are nothing; the bundle reads the source's types.
// CHECK-LABEL: func.func @identity(%x: tensor<4xi8>) -> tensor<4xi8>
// CHECK-SAME:      ingot.signature = (tensor<4xui8>) -> tensor<4xui8>
// CHECK-NEXT:    return %x : tensor<4xi8>
func.func @identity(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = tensor.bitcast %x : tensor<4xui8> to tensor<4xi8>
  %1 = tensor.bitcast %0 : tensor<4xi8> to tensor<4xui8>
  return %1 : tensor<4xui8>
}

// CHECK-LABEL: func.func @constant() -> tensor<2xi32>
// CHECK:         arith.constant dense<[1, -2]> : tensor<2xi32>
func.func @constant() -> tensor<2xsi32> {
  %0 = arith.constant dense<[1, -2]> : tensor<2xsi32>
  return %0 : tensor<2xsi32>
}

// Signless functions stay as they are.
// CHECK-LABEL: func.func @plain(%x: tensor<4xi8>) -> tensor<4xi8> {
func.func @plain(%x: tensor<4xi8>) -> tensor<4xi8> {
  return %x : tensor<4xi8>
}
