"""Programs with loops, branches and calls between kernels: each shows one thing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .harness import Array

ADD = """func.func private @add(%a: tensor<{t}>, %b: tensor<{t}>) -> tensor<{t}> {{
  %e = tensor.empty() : tensor<{t}>
  %r = linalg.add ins(%a, %b : tensor<{t}>, tensor<{t}>) outs(%e : tensor<{t}>) -> tensor<{t}>
  return %r : tensor<{t}>
}}
"""
ADD_4, ADD_I32 = ADD.format(t="4xf32"), ADD.format(t="4xi32")

FOR = """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{
  %c0 = arith.constant {lower} : {type}
  %c1 = arith.constant {step} : {type}
  %n = arith.constant {upper} : {type}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xf32>) : {type} {{
    %s = func.call @add(%a, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }}
  return %r : tensor<4xf32>
}}
"""

# Rows are read backwards and written forwards, both at places that the index decides.
ROWS = """func.func @f(%x: tensor<6x5xf32>) -> (tensor<6x5xf32>, tensor<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  %e = tensor.empty() : tensor<6x5xf32>
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%out = %e, %sum = %zero)
      -> (tensor<6x5xf32>, tensor<5xf32>) {
    %j = arith.subi %c5, %i : index
    %row = tensor.extract_slice %x[%j, 0] [1, 5] [1, 1] : tensor<6x5xf32> to tensor<5xf32>
    %s = linalg.add ins(%row, %sum : tensor<5xf32>, tensor<5xf32>) outs(%sum : tensor<5xf32>)
        -> tensor<5xf32>
    %o = tensor.insert_slice %s into %out[%i, 0] [1, 5] [1, 1] : tensor<5xf32> into tensor<6x5xf32>
    scf.yield %o, %s : tensor<6x5xf32>, tensor<5xf32>
  }
  return %r#0, %r#1 : tensor<6x5xf32>, tensor<5xf32>
}
"""

SWAP = (
    """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z, %d = %x)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %s = func.call @add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b, %c, %s, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
"""
    + ADD_4
)

NESTED = """func.func @f(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant dense<0> : tensor<4xi32>
  %first = arith.constant 3 : i64
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %k = %first)
      -> (tensor<4xi32>, i64) {
    %q:2 = scf.for %j = %i to %n step %c1 iter_args(%b = %a, %l = %k) -> (tensor<4xi32>, i64) {
      %ij = arith.muli %i, %j : index
      %t = arith.index_cast %ij : index to i32
      %w = arith.index_cast %ij : index to i64
      %l1 = arith.addi %l, %w : i64
      %s = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
          iterator_types = ["parallel"]} ins(%x : tensor<4xi32>) outs(%b : tensor<4xi32>) {
      ^bb0(%in: i32, %out: i32):
        %p = arith.muli %in, %t : i32
        %u = arith.addi %p, %out : i32
        linalg.yield %u : i32
      } -> tensor<4xi32>
      scf.yield %s, %l1 : tensor<4xi32>, i64
    }
    scf.yield %q#0, %q#1 : tensor<4xi32>, i64
  }
  %e = tensor.empty() : tensor<i64>
  %last = linalg.fill ins(%r#1 : i64) outs(%e : tensor<i64>) -> tensor<i64>
  return %r#0, %last : tensor<4xi32>, tensor<i64>
}
"""

COMPUTED_BOUNDS = (
    """func.func @f(%x: tensor<4xi32>, %from: tensor<i32>, %to: tensor<i32>)
    -> tensor<4xi32> {
  %a0 = tensor.extract %from[] : tensor<i32>
  %b0 = tensor.extract %to[] : tensor<i32>
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %a0 to %b0 step %c3 iter_args(%a = %x) -> (tensor<4xi32>) : i32 {
    %e = tensor.empty() : tensor<4xi32>
    %t = linalg.fill ins(%i : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
    %s = func.call @add(%a, %t) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    scf.yield %s : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}
"""
    + ADD_I32
)

IF = (
    """func.func @f(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %c = tensor.extract %p[] : tensor<i1>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %r:3 = scf.if %c -> (tensor<4xf32>, tensor<4xf32>, f32) {
    %s = func.call @add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s, %s, %one : tensor<4xf32>, tensor<4xf32>, f32
  } else {
    %s = func.call @add(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %x, %s, %two : tensor<4xf32>, tensor<4xf32>, f32
  }
  %t = tensor.from_elements %r#2 : tensor<f32>
  return %r#0, %r#1, %t : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
"""
    + ADD_4
)

IF_IN_FOR = (
    """func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %n = arith.constant 6 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xi32>) : i32 {
    %odd = arith.andi %i, %c1 : i32
    %q = arith.cmpi eq, %odd, %c1 : i32
    %t = scf.if %q -> (tensor<4xi32>) {
      %s = func.call @add(%a, %a) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      scf.yield %s : tensor<4xi32>
    } else {
      %s = func.call @add(%a, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      scf.yield %s : tensor<4xi32>
    }
    scf.yield %t : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}
"""
    + ADD_I32
)

# What the condition passes on differs from what it gets, in number, order and type.
WHILE = (
    """func.func @f(%x: tensor<4xf32>, %limit: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = tensor.extract %limit[] : tensor<i32>
  %r:3 = scf.while (%i = %c0, %a = %x, %b = %x) : (i32, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, i32, tensor<4xf32>) {
    %p = arith.cmpi slt, %i, %n : i32
    %s = func.call @add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.condition(%p) %s, %i, %a : tensor<4xf32>, i32, tensor<4xf32>
  } do {
  ^bb0(%s: tensor<4xf32>, %i: i32, %a: tensor<4xf32>):
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %s, %a : i32, tensor<4xf32>, tensor<4xf32>
  }
  %t = tensor.from_elements %r#1 : tensor<i32>
  return %r#0, %t : tensor<4xf32>, tensor<i32>
}
"""
    + ADD_4
)

WHILE_IN_WHILE = """func.func @f(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = tensor.extract %x[] : tensor<i32>
  %r:2 = scf.while (%i = %c0, %s = %c0) : (i32, i32) -> (i32, i32) {
    %p = arith.cmpi slt, %i, %n : i32
    scf.condition(%p) %i, %s : i32, i32
  } do {
  ^bb0(%i: i32, %s: i32):
    %q:2 = scf.while (%j = %c0, %t = %s) : (i32, i32) -> (i32, i32) {
      %p = arith.cmpi sle, %j, %i : i32
      scf.condition(%p) %j, %t : i32, i32
    } do {
    ^bb0(%j: i32, %t: i32):
      %j1 = arith.addi %j, %c1 : i32
      %t1 = arith.addi %t, %j : i32
      scf.yield %j1, %t1 : i32, i32
    }
    %i1 = arith.addi %i, %c1 : i32
    scf.yield %i1, %q#1 : i32, i32
  }
  %a = tensor.from_elements %r#0 : tensor<i32>
  %b = tensor.from_elements %r#1 : tensor<i32>
  return %a, %b : tensor<i32>, tensor<i32>
}
"""

# A chain of loops: the second starts from what the first made, and the first value is kept.
CHAIN = (
    """func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %two = func.call @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %two) -> (tensor<4xf32>) {
    %s = func.call @add(%a, %two) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r) -> (tensor<4xf32>) {
    %s = func.call @add(%a, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %q, %r : tensor<4xf32>, tensor<4xf32>
}
"""
    + ADD_4
)

# The loop's result is its argument, an argument of the function, and a constant.
UNCHANGED = """func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %k = arith.constant dense<[1, 2]> : tensor<2xi32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %k)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<2xi32>) {
    scf.yield %a, %x, %k : tensor<4xf32>, tensor<4xf32>, tensor<2xi32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<2xi32>
}
"""

# Values that live across an inner loop must not share memory with what lies inside of it.
LIVE_ACROSS = (
    """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %kept = func.call @add(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%b = %kept) -> (tensor<4xf32>) {
      %s = func.call @add(%b, %kept) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %t = func.call @mul(%s, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %u = func.call @add(%t, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %u : tensor<4xf32>
    }
    %s = func.call @add(%q, %kept) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""
    + ADD_4
    + ADD_4.replace("@add", "@mul").replace("linalg.add", "linalg.mul")
)

# A loop that is left where its condition holds, with a branch in its body; what the header computes
# is used in the body and behind the loop. Then a loop that is one block.
BLOCKS = (
    """func.func @f(%x: tensor<4xf32>, %limit: tensor<i32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %n = tensor.extract %limit[] : tensor<i32>
  cf.br ^header(%c0, %x : i32, tensor<4xf32>)
^header(%i: i32, %a: tensor<4xf32>):
  %d = func.call @add(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %done = arith.cmpi sge, %i, %n : i32
  cf.cond_br %done, ^exit, ^body
^body:
  %low = arith.andi %i, %c1 : i32
  %odd = arith.cmpi eq, %low, %c1 : i32
  cf.cond_br %odd, ^then, ^else
^then:
  %t = func.call @add(%d, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  cf.br ^latch(%t : tensor<4xf32>)
^else:
  cf.br ^latch(%d : tensor<4xf32>)
^latch(%e: tensor<4xf32>):
  %j = arith.addi %i, %c1 : i32
  cf.br ^header(%j, %e : i32, tensor<4xf32>)
^exit:
  cf.br ^again(%d, %c0 : tensor<4xf32>, i32)
^again(%b: tensor<4xf32>, %k: i32):
  %g = func.call @add(%b, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %k1 = arith.addi %k, %c2 : i32
  %more = arith.cmpi slt, %k1, %n : i32
  cf.cond_br %more, ^again(%g, %k1 : tensor<4xf32>, i32), ^end(%g : tensor<4xf32>)
^end(%r: tensor<4xf32>):
  %w = tensor.from_elements %k1 : tensor<i32>
  return %r, %a, %w : tensor<4xf32>, tensor<4xf32>, tensor<i32>
}
"""
    + ADD_4
)

X = np.array([1.5, -2.0, 3.25, 0.5], np.float32)
Y = np.array([0.25, 4.0, -1.0, 2.0], np.float32)
K = np.array([1, -2, 3, 4], np.int32)

PROGRAMS: dict[str, tuple[str, Sequence[Array]]] = {
    "for": (FOR.format(lower=0, step=1, upper=7, type="index") + ADD_4, [X, Y]),
    "for with a step": (FOR.format(lower=-3, step=4, upper=7, type="i32") + ADD_4, [X, Y]),
    "for in i64": (FOR.format(lower=1, step=2, upper=6, type="i64") + ADD_4, [X, Y]),
    "no turn": (FOR.format(lower=5, step=1, upper=2, type="index") + ADD_4, [X, Y]),
    "many turns": (FOR.format(lower=0, step=1, upper=5000, type="i32") + ADD_4, [X, Y]),
    "rows": (ROWS, [np.random.default_rng(0).standard_normal((6, 5), np.float32)]),
    "swap": (SWAP, [X, Y, X * Y]),
    "nested": (NESTED, [K]),
    "computed bounds": (COMPUTED_BOUNDS, [K, np.int32(-4), np.int32(9)]),
    "computed bounds, no turn": (COMPUTED_BOUNDS, [K, np.int32(9), np.int32(-4)]),
    "computed bounds, far": (COMPUTED_BOUNDS, [K, np.int32(2**31 - 8), np.int32(2**31 - 1)]),
    "if": (IF, [np.bool_(True), X, Y]),
    "else": (IF, [np.bool_(False), X, Y]),
    "if in for": (IF_IN_FOR, [K]),
    "while": (WHILE, [X, np.int32(4)]),
    "while, no turn": (WHILE, [X, np.int32(0)]),
    "while in while": (WHILE_IN_WHILE, [np.int32(4)]),
    "blocks": (BLOCKS, [X, np.int32(5)]),
    "blocks, no turn": (BLOCKS, [X, np.int32(0)]),
    "chain": (CHAIN, [X]),
    "unchanged": (UNCHANGED, [X]),
    "live across": (LIVE_ACROSS, [X]),
}
