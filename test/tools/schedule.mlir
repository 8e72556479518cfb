// RUN: ingot compile %s --target metal:apple7 --print-schedule | filecheck %s
// RUN: ingot compile %s --target metal:apple7 --print-schedule > %t.json
// RUN: ingot compile %s --target metal:apple7 --schedule %t.json -o %t.ingot
// RUN: ingot compile %s --target metal:apple7 --schedule %t.json --print-schedule | filecheck %s
// RUN: echo '{"schedules": 3}' > %t.bad.json
// RUN: not ingot compile %s --target metal:apple7 --schedule %t.bad.json -o %t.ingot 2>&1 | filecheck %s --check-prefix=BAD

// CHECK:      {"schedules": [
// CHECK-NEXT:   {"target": "metal:apple7",
// CHECK-NEXT:    "kernel": "pointwise (1024xf32) -> (1024xf32) #{{[0-9a-f]+}}",
// CHECK-NEXT:    "schedule": {"kind": "pointwise", "threadgroup": [1024], "thread": [4], "threads": 256, "vector": 4}}
// CHECK-NEXT: ]}

// BAD: bad.json: error: "schedules" must be a list

func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %e = tensor.empty() : tensor<1024xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<1024xf32>) outs(%e : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  func.return %r : tensor<1024xf32>
}
