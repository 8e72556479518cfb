// RUN: ingot-opt %s --split-input-file --verify-diagnostics
// RUN: ! ingot-opt %s 2>&1 | filecheck %s

// Without --verify-diagnostics the first error ends the run, with the place, the line and a caret.
// CHECK:      opt-diagnostics.mlir:12:37: error: expected '>'
// CHECK-NEXT:   func.func @unclosed(%x: tensor<4xf32) {
// CHECK-NEXT: {{^ +\^$}}

// The line numbers count in the whole file, whatever part the error is in.

// expected-error@+1 {{expected '>'}}
func.func @unclosed(%x: tensor<4xf32) {
  return
}

// -----

func.func @wrong_result(%x: f32) -> f32 {
  // expected-error@+1 {{'func.return' op}}
  return
}

// -----

func.func @unknown(%x: f32) {
  "nobody.knows"(%x) : (f32) -> () // expected-error {{unknown dialect 'nobody'}}
  return
}

// -----

func.func @right(%x: f32) -> f32 {
  return %x : f32
}
