"""Every rule of the table against central differences in float64, over the range of its op."""

from __future__ import annotations

import numpy as np
import pytest
from support.gradients import check_gradient, gradient_of

from ingot.compiler.analysis.derivative_rules import REFUSED, RULES, WITHOUT_GRADIENT
from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.arith import Arith
from ingot.compiler.dialects.math import Math
from ingot.compiler.interpreter.arithmetic import FUNCTIONS

Ranges = tuple[tuple[float, float], ...]

REALS: tuple[float, float] = (-3.0, 3.0)
POSITIVE: tuple[float, float] = (0.05, 40.0)

RANGES: dict[str, Ranges] = {
    "arith.divf": (REALS, (0.3, 4.0)),
    "arith.remf": ((-9.0, 9.0), (1.3, 2.7)),
    "math.acos": ((-0.98, 0.98),),
    "math.acosh": ((1.02, 50.0),),
    "math.asin": ((-0.98, 0.98),),
    "math.asinh": ((-50.0, 50.0),),
    "math.atan": ((-50.0, 50.0),),
    "math.atan2": ((-4.0, 4.0), (-4.0, 4.0)),
    "math.atanh": ((-0.98, 0.98),),
    "math.cbrt": (POSITIVE,),
    "math.exp": ((-20.0, 5.0),),
    "math.log": (POSITIVE,),
    "math.log10": (POSITIVE,),
    "math.log1p": ((-0.95, 40.0),),
    "math.log2": (POSITIVE,),
    "math.powf": ((0.1, 4.0), (-3.0, 3.0)),
    "math.rsqrt": (POSITIVE,),
    "math.sqrt": (POSITIVE,),
    "math.tan": ((-1.4, 1.4),),
    "math.tanh": ((-9.0, 9.0),),
}
"""The operands' ranges where they are not all reals."""

SPECIAL = {f"arith.{op}" for op in ("select", "extf", "truncf")} | {
    f"math.{op}" for op in ("clampf", "fpowi", "sincos")
}
"""Ops that are written in other ways; tested by themselves below."""


def elementwise(op: str, operands: int) -> str:
    names = [f"%a{i}" for i in range(operands)]
    arguments = ", ".join(f"{n}: tensor<24xf32>" for n in names)
    return f"""func.func @main({arguments}) -> tensor<24xf32> {{
  %r = {op} {", ".join(names)} : tensor<24xf32>
  return %r : tensor<24xf32>
}}
"""


@pytest.mark.parametrize("op", sorted(set(RULES) - SPECIAL))
def test_rule(op: str) -> None:
    rule = RULES[op]
    ranges = RANGES.get(op, (REALS,) * len(rule))
    rng = np.random.default_rng(len(op))
    inputs = [rng.uniform(*r, 24).astype(np.float32) for r in ranges]
    wrt = [i for i, formula in enumerate(rule) if formula is not None]
    text = elementwise(op, len(rule))
    if wrt:
        check_gradient(text, inputs, wrt)
    else:
        check_gradient(text, inputs, [0])


SPECIAL_BODIES = {
    "select": """%s = arith.cmpf ogt, %x, %y : f32
    %r = arith.select %s, %p, %y : f32""",
    "casts": """%h = arith.truncf %p : f32 to f16
    %w = arith.extf %h : f16 to f32
    %r = arith.mulf %w, %y : f32""",
    "fpowi": """%n = arith.constant 3 : i32
    %q = math.fpowi %p, %n : f32, i32
    %r = arith.addf %q, %y : f32""",
    "fpowi of a negative number": """%n = arith.constant -2 : i32
    %q = math.fpowi %p, %n : f32, i32
    %r = arith.addf %q, %y : f32""",
    "fpowi of 0": """%n = arith.constant 0 : i32
    %q = math.fpowi %p, %n : f32, i32
    %r = arith.mulf %q, %y : f32""",
    "clampf, moved up": "%r = math.clampf %x to [%p, %y] : f32",
    "clampf, moved down": """%q = arith.negf %p : f32
    %r = math.clampf %x to [%q, %y] : f32""",
    "clampf, inside": """%q = arith.negf %y : f32
    %d = arith.addf %p, %x : f32
    %r = math.clampf %x to [%q, %d] : f32""",
    "sincos": """%u, %v = math.sincos %p : f32
    %w = arith.mulf %v, %y : f32
    %r = arith.addf %u, %w : f32""",
    "branches": """%s = arith.cmpf ogt, %x, %y : f32
    %r = scf.if %s -> (f32) {
      %l = math.log %p : f32
      scf.yield %l : f32
    } else {
      %m = arith.mulf %p, %p : f32
      scf.yield %m : f32
    }""",
    "a short loop": """%i = arith.constant 0 : index
    %n = arith.constant 3 : index
    %o = arith.constant 1 : index
    %r = scf.for %k = %i to %n step %o iter_args(%h = %x) -> (f32) {
      %m = arith.mulf %h, %p : f32
      %t = math.tanh %m : f32
      scf.yield %t : f32
    }""",
}


@pytest.mark.parametrize("body", SPECIAL_BODIES.values(), ids=SPECIAL_BODIES.keys())
def test_ops_of_other_types_and_with_regions(body: str) -> None:
    text = f"""#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<9xf32>, %b: tensor<9xf32>) -> tensor<9xf32> {{
  %e = tensor.empty() : tensor<9xf32>
  %g = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
      ins(%a, %b : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) {{
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    {body}
    linalg.yield %r : f32
  }} -> tensor<9xf32>
  return %g : tensor<9xf32>
}}
"""
    rng = np.random.default_rng(3)
    inputs = [rng.uniform(0.5, 2.0, 9).astype(np.float32) for _ in range(2)]
    check_gradient(text, inputs, [0, 1])


def test_the_table_knows_every_op() -> None:
    """An op that is added to a dialect needs a rule, or a word on why it has none."""
    known = set(RULES) | WITHOUT_GRADIENT | set(REFUSED)
    assert {op.name for op in (*Arith.operations, *Math.operations)} <= known
    assert set(FUNCTIONS) <= known
    assert not set(RULES) & (WITHOUT_GRADIENT | set(REFUSED))


def test_ties_and_kinks() -> None:
    """Of equal operands the first gets all; the absolute value has the derivative 0 at 0."""
    from ingot.compiler.dialects.context import make_context
    from ingot.compiler.frontends.reader import read_module
    from ingot.compiler.interpreter import evaluate

    equal = np.zeros(24, np.float32)
    for op in ("maximumf", "minimumf", "maxnumf", "minnumf"):
        gradient = gradient_of(elementwise(f"arith.{op}", 2))
        module = read_module(gradient, "test.mlir", make_context())
        first, second = evaluate(module, "main", [equal, equal, equal + 1], "float64")
        assert np.all(first == 1) and np.all(second == 0), op
    gradient = gradient_of(elementwise("math.absf", 1))
    module = read_module(gradient, "test.mlir", make_context())
    (slope,) = evaluate(module, "main", [equal, equal + 1], "float64")
    assert np.all(slope == 0)


def test_what_is_not_chosen_makes_no_nan() -> None:
    """The derivative of the side of a branch that is not taken may be infinite."""
    from support.gradients import evaluated

    text = """#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %z = arith.constant 0.0 : f32
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.cmpf ogt, %x, %z : f32
    %l = math.sqrt %x : f32
    %m = math.log %l : f32
    %r = arith.select %s, %m, %z : f32
    linalg.yield %r : f32
  } -> tensor<3xf32>
  return %g : tensor<3xf32>
}
"""
    inputs = [np.array([4.0, 0.0, -1.0], np.float32), np.ones(3, np.float32)]
    (gradient,) = evaluated(gradient_of(text), inputs)
    np.testing.assert_allclose(gradient, [0.125, 0.0, 0.0])


def test_bits_are_refused() -> None:
    text = """#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = arith.bitcast %x : f32 to i32
    %f = arith.bitcast %i : i32 to f32
    linalg.yield %f : f32
  } -> tensor<3xf32>
  return %g : tensor<3xf32>
}
"""
    with pytest.raises(Refusal, match="the bits of a float have no derivative"):
        gradient_of(text)
