// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: not env TMPDIR=%t.dir ingot-opt %s --load-pass-plugin=%S/Inputs/crash_on_exp.py -p cse,crash-on-exp,canonicalize 2>&1 | filecheck %s --check-prefix=CRASH
// RUN: ingot reduce %t.dir/ingot-reproducer-*.mlir --crash > %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: not env TMPDIR=%t.dir ingot-opt %s --load-pass-plugin %S/Inputs/crash_on_exp.py --crash-on-exp 2>&1 | filecheck %s --check-prefix=CRASH

// CRASH: reduce-crash.mlir: internal error: pass `crash-on-exp` failed: KeyError: 'math.exp'
// CRASH: help: this is a bug in {{.*}}crash_on_exp.py, please report it; {{.*}}.mlir reproduces it

// A reproducer stays one: the command is in the result, too.
// CHECK:      // PassFailure: pass `crash-on-exp` failed: KeyError: 'math.exp'
// CHECK-NEXT: // {{RUN}}: ingot opt %s --load-pass-plugin {{.*}}crash_on_exp.py -p crash-on-exp,canonicalize
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func @main(%[[X:.*]]: f32) {
// CHECK-NEXT:     math.exp %[[X]] : f32
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }
// CHECK-NEXT: }

func.func @main(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.mulf %1, %0 : f32
  return %2 : f32
}
