"""Expands one op with `expand-math` and returns it as a function of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from unit.lowering.scalar_evaluator import Evaluator
from xdsl.parser import Parser

from ingot.compiler.dialects.context import make_context
from ingot.passes.lowering.expand_math import ExpandMathPass

Array = npt.NDArray[Any]


def expand(
    body: str, arguments: str, results: str, math: Literal["safe", "fast", "strict"] = "safe"
) -> Evaluator:
    """The evaluator of function `f`, whose body (with `return`) was expanded."""
    context = make_context()
    text = f"func.func @f({arguments}) -> ({results}) attributes {{ingot.kernel}} {{\n{body}\n}}"
    module = Parser(context, text).parse_module()
    ExpandMathPass(math=math).apply(context, module)
    module.verify()
    return Evaluator(module)


def expanded(
    op: str, type_: str, operands: int = 1, result: str | None = None
) -> Callable[..., Array]:
    """`op` (with `%0`, `%1` as operands and without its type) on `type_`, after expansion."""
    names = ", ".join(f"%{i}" for i in range(operands))
    arguments = ", ".join(f"%{i}: {type_}" for i in range(operands))
    signature = f"{type_} to {result}" if result else type_
    body = f"%r = {op} {names} : {signature}\nfunc.return %r : {result or type_}"
    evaluator = expand(body, arguments, result or type_)
    return lambda *arrays: evaluator.run("f", *arrays)[0]


def max_ulp_error(got: Array, exact: npt.NDArray[np.float64]) -> float:
    """The largest error in units of the last place of the rounded exact result (f32 or f16).

    Results below the smallest normal number are left out: targets may flush them to zero.
    """
    rounded = exact.astype(got.dtype)
    usable = np.isfinite(rounded) & (np.abs(exact) >= np.finfo(got.dtype).tiny)
    spacing = np.spacing(np.abs(rounded[usable])).astype(np.float64)
    error = np.abs(got[usable].astype(np.float64) - exact[usable]) / spacing
    return float(error.max(initial=0.0))
