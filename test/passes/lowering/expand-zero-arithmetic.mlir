// RUN: ingot-opt %s -p expand-zero-arithmetic | filecheck %s

// CHECK-LABEL: func.func @sums
// CHECK: %[[BITS:.*]] = arith.bitcast %x : f32 to i32
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[BITS]], %{{.*}} : i32
// CHECK: %[[KEPT:.*]] = arith.select %[[IS]], %{{.*}}, %[[BITS]] : i32
// CHECK-NEXT: %sum = arith.bitcast %[[KEPT]] : i32 to f32
// CHECK-NEXT: %same = arith.addf %x, %minus
// CHECK-NEXT: %less = arith.subf %x, %zero
// CHECK-NOT: arith.subf
// CHECK: %negated = arith.bitcast
func.func @sums(%x: f32) -> (f32, f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %sum = arith.addf %x, %zero : f32
  %same = arith.addf %x, %minus : f32
  %less = arith.subf %x, %zero : f32
  %negated = arith.subf %zero, %x : f32
  return %sum, %same, %less, %negated : f32, f32, f32, f32
}

// The other lanes are multiplied.
// CHECK-LABEL: func.func @some_lanes
// CHECK: %[[WHERE:.*]] = arith.constant dense<[true, false]> : vector<2xi1>
// CHECK: %[[PRODUCT:.*]] = arith.mulf %x, %c : vector<2xf32>
// CHECK: %product = arith.select %[[WHERE]], %{{.*}}, %[[PRODUCT]]
func.func @some_lanes(%x: vector<2xf32>) -> vector<2xf32> {
  %c = arith.constant dense<[0.0, 1.0]> : vector<2xf32>
  %product = arith.mulf %x, %c : vector<2xf32>
  return %product : vector<2xf32>
}

// A place of a thread may be a zero; what is read from memory never is one before the kernel runs.
// CHECK-LABEL: func.func @places
// CHECK: %[[IS:.*]] = arith.cmpf oeq, %place, %{{.*}} : f32
// CHECK: %quotient = arith.select %[[IS]], %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %other = arith.divf %y, %x : f32
func.func @places(%x: f32, %y: f32) -> (f32, f32) {
  %id = gpu.thread_id x
  %number = arith.index_cast %id : index to i32
  %place = arith.sitofp %number : i32 to f32
  %quotient = arith.divf %x, %place : f32
  %other = arith.divf %y, %x : f32
  return %quotient, %other : f32, f32
}

// The first turn of a loop may be unrolled: a factor that is a zero then counts, a term does not.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for
// CHECK-NEXT: %sum = arith.addf %a, %x : f32
// CHECK: arith.cmpf oeq, %a
// CHECK: %product = arith.select
func.func @carried(%x: f32, %from: index, %to: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %r = scf.for %i = %from to %to step %one iter_args(%a = %zero) -> (f32) {
    %sum = arith.addf %a, %x : f32
    %product = arith.mulf %a, %sum : f32
    scf.yield %product : f32
  }
  return %r : f32
}

// Unless it does not matter.
// CHECK-LABEL: func.func @rescaled
// CHECK: %product = arith.mulf %a, %x {ingot.zero_stays} : f32
func.func @rescaled(%x: f32, %from: index, %to: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %r = scf.for %i = %from to %to step %one iter_args(%a = %zero) -> (f32) {
    %product = arith.mulf %a, %x {ingot.zero_stays} : f32
    %sum = arith.addf %product, %x : f32
    scf.yield %sum : f32
  }
  return %r : f32
}

// A fused product with a zero is one without, and so is a sum with one.
// CHECK-LABEL: func.func @fused
// CHECK-NOT: math.fma
// CHECK: %first = arith.addf %{{.*}}, %y
// CHECK: arith.mulf %x, %y
// CHECK: %second = arith.bitcast
func.func @fused(%x: f32, %y: f32) -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  %first = math.fma %x, %zero, %y : f32
  %second = math.fma %x, %y, %zero : f32
  return %first, %second : f32, f32
}
