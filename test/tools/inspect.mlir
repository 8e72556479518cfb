// RUN: ingot compile %s -o %t.ingot --target metal:apple7 --timing 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: ingot inspect %t.ingot --plan | filecheck %s --check-prefix=PLAN
// RUN: ingot inspect %s --target metal:apple7 --html %t.html
// RUN: filecheck %s --input-file %t.html --check-prefix=PAGE
// RUN: ingot grad %s --emit mlir --timing -o %t.mlir 2>&1 | filecheck %s --check-prefix=GRAD
// RUN: ingot einsum 'C[i] := A[i] * 2.0' --arg A:f32[3] --target metal:apple7 --timing -o %t.ingot 2>&1 | filecheck %s --check-prefix=EINSUM
// RUN: ingot opt %s -p canonicalize,cse --timing -o %t.mlir 2>&1 | filecheck %s --check-prefix=OPT

// TIMING:      Total Execution Time:
// TIMING:      ----Wall Time----  ----CPU Time----  ----Name----
// TIMING:      read
// TIMING:      tensor
// TIMING:      convert-elementwise-to-linalg
// TIMING:      rest
// TIMING:      code metal:apple7
// TIMING-NEXT: SPIR-V
// TIMING-NEXT: SPIRV-Tools
// TIMING-NEXT: SPIRV-Cross
// TIMING:      bundle
// TIMING:      (100.0%){{.*}}total

// PLAN:      function scaled for metal:apple7
// PLAN-NEXT:   argument x: 8xf32
// PLAN-NEXT:   result result0: 8xf32
// PLAN-NEXT:   commands
// PLAN-NEXT:     dispatch scaled_{{.*}} groups of {{.*}} threads
// PLAN-NEXT:       read x: x
// PLAN-NEXT:       write out: result0

// PAGE:      <h1>inspect.mlir <span class="target">metal:apple7</span></h1>
// PAGE:      <svg

// GRAD:      gradient
// GRAD:        linalg-differentiate

// EINSUM:    tensor
// EINSUM:    code metal:apple7

// OPT:       pipeline
// OPT:         canonicalize
// OPT:         cse

func.func @scaled(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %y = arith.mulf %x, %two : tensor<8xf32>
  return %y : tensor<8xf32>
}
