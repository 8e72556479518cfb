// RUN: ingot-translate -no-implicit-module -test-spirv-roundtrip -split-input-file %s | filecheck %s
// RUN: ingot-translate -test-spirv-roundtrip -split-input-file -verify-diagnostics %s | filecheck %s
// RUN: not ingot-translate -test-spirv-roundtrip %s 2>&1 | filecheck %s --check-prefix=MANY
// RUN: %if mlir-translate %{ %mlir-translate -no-implicit-module -test-spirv-roundtrip -split-input-file %s | filecheck %s %}

// CHECK: spirv.module Logical GLSL450
// CHECK:   spirv.func @one
// CHECK: spirv.module Logical GLSL450
// CHECK:   spirv.func @two

// MANY: translate-parts.mlir: error: expected one spirv.module, found 2

spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {
  spirv.func @one() "None" {
    spirv.Return
  }
}

// -----

spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {
  spirv.func @two() "None" {
    spirv.Return
  }
}
