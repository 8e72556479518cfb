// RUN: ingot-compile %s -o %t.ingot --target metal:apple7 --target vulkan:generic --dump-dir %t.dump
// RUN: ingot inspect %t.ingot | filecheck %s --check-prefix=INSPECT
// RUN: ingot inspect %t.ingot --json | filecheck %s --check-prefix=JSON
// RUN: ingot translate %t.ingot --bundle-to-text | filecheck %s --check-prefix=TEXT
// RUN: ls %t.dump/vulkan-generic/kernels/two_steps_add | filecheck %s --check-prefix=DUMP
// RUN: ingot compile %s -o - --target metal:apple7 --emit spirv | filecheck %s --check-prefix=SPIRV
// RUN: ingot compile - -o %t.2 --target vulkan:generic --print-after dispatch-outline < %s 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: ingot-run %t.ingot --input 2x3xf32=1 --input 3xf32=[1,2,3] | filecheck %s --check-prefix=VALUES

// INSPECT:      {{.*}}.ingot: metal:apple7, safe math, MSL 3.1
// INSPECT-NEXT: other variants: vulkan:generic
// INSPECT:      two_steps(x: 2x3xf32, b: 3xf32) -> (
// INSPECT-NEXT:   dispatch two_steps_add groups (1, 1, 1), bindings (argument0[0:24], argument1[0:12], result0[0:24])

// JSON:         "target": "metal:apple7"
// JSON:         "functions": [
// JSON:         "kind": "dispatch"
// JSON:         "kernels": [
// JSON:         "memory": {
// JSON-NEXT:      "peak": 0,
// JSON-NEXT:      "lower_bound": 0

// TEXT:         variant metal:apple7 {
// TEXT:           function two_steps(2x3xf32, 3xf32) -> (2x3xf32) {
// TEXT:             dispatch
// TEXT:         variant vulkan:generic {

// DUMP:         20-dispatch.mlir
// DUMP:         60-code.spv
// DUMP-NOT:     metal

// SPIRV:        ; target: metal:apple7, kernel: two_steps_
// SPIRV:        OpMemoryModel Logical GLSL450

// AFTER:        // -----// IR Dump After DispatchOutlinePass (dispatch-outline) //----- //
// AFTER:        dispatch.call @two_steps_

// VALUES:       result 0: result0: 2x3xf32 =
// VALUES-NEXT:     {{\[}}[2., 3., 4.],
// VALUES-NEXT:      [2., 3., 4.]]

func.func @two_steps(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %full = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
  %r = linalg.add ins(%x, %full : tensor<2x3xf32>, tensor<2x3xf32>)
                  outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
