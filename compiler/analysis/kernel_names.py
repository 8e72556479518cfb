"""What a kernel computes, in a word or two."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.ir import Block, Operation

from ingot.compiler.analysis.cost import CONVERSIONS
from ingot.compiler.analysis.dispatch_graph import role_of
from ingot.compiler.analysis.fusion_graph import Role
from ingot.compiler.analysis.structured import match_combiner, match_contraction
from ingot.compiler.dialects.dispatch import UNFOLDED
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, YieldOp

_REDUCTIONS: dict[str, str] = {
    "add": "sum",
    "mul": "product",
    "maximumf": "max",
    "maxnumf": "max",
    "maxsi": "max",
    "maxui": "max",
    "minimumf": "min",
    "minnumf": "min",
    "minsi": "min",
    "minui": "min",
    "and": "all",
    "or": "any",
    "xor": "parity",
}

_MOVES = (arith.ConstantOp, YieldOp)


def describe(block: Block) -> str:
    """A name for the kernel with this body: `matmul`, `softmax`, `sum`, `tanh`, `add_mul`, ..."""
    generics = [op for op in block.ops if isinstance(op, GenericOp)]
    if any(isinstance(op, ScanOp) for op in block.ops):
        return "scan"
    if not generics:
        return "fill" if any(isinstance(op, FillOp) for op in block.ops) else "copy"
    roots = [op for op in generics if role_of(op) is not Role.ELEMENTWISE]
    if not roots:
        return _elementwise(generics)
    names = [_root(op) for op in roots]
    if len(roots) > 2 and {names[0], names[-1]} <= {"matmul", "batch_matmul"}:
        return "attention"
    inner = [op for g in generics for op in g.body.walk()]
    if names == ["max", "sum"] and any(isinstance(op, math.ExpOp) for op in inner):
        return "softmax"
    if names[-2:] == ["sum", "sum"] and any(
        isinstance(op, math.RsqrtOp | math.SqrtOp) for op in inner
    ):
        return "normalize"
    if len(roots) == 1 and names[0] in ("matmul", "conv"):
        return names[0]
    return "_".join(dict.fromkeys(names))


def _root(op: GenericOp) -> str:
    contraction = match_contraction(op)
    if contraction is not None:
        owners = [value.owner for value in op.inputs]
        if any(isinstance(o, Operation) and UNFOLDED in o.attributes for o in owners):
            return "conv"
        if contraction.m and contraction.n:
            return "batch_matmul" if contraction.batch else "matmul"
        return "matvec" if contraction.m or contraction.n else "dot"
    if role_of(op) is Role.CONTRACTION:
        return "conv"
    combiner = match_combiner(op)
    return "reduce" if combiner is None else _REDUCTIONS[combiner.name]


_HINTS: dict[str, str] = {
    "padded": "pad",
    "concat": "concat",
    "extracted_slice": "slice",
    "inserted_slice": "insert_slice",
    "transposed": "transpose",
}
"""What ops are called by the names that MLIR prints for their results."""


def _elementwise(generics: list[GenericOp]) -> str:
    ops: dict[str, None] = {}
    for generic in generics:
        for op in generic.body.walk():
            if not isinstance(op, _MOVES):
                ops[_short(op)] = None
    ops.pop("", None)
    names = list(ops)
    hint = _HINTS.get(generics[-1].results[0].name_hint or "")
    if hint is not None and not set(names) - _INDEXING:
        return hint
    if not names:
        return "copy"
    return "_".join(names) if len(names) <= 2 else "elementwise"


_INDEXING = frozenset({"gather", "add", "sub", "mul", "max", "min", "and", "divui", "remui"})
"""Short names of what pads, slices and concatenations compute indices with."""

_SILENT = frozenset({"linalg.index", "arith.select", "arith.cmpi", "arith.cmpf", "arith.bitcast"})

_SHORT: dict[str, str] = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.subf": "sub",
    "arith.subi": "sub",
    "arith.mulf": "mul",
    "arith.muli": "mul",
    "arith.divf": "div",
    "arith.divsi": "div",
    "arith.divui": "divui",
    "arith.remui": "remui",
    "arith.negf": "neg",
    "arith.maximumf": "max",
    "arith.minimumf": "min",
    "arith.maxsi": "max",
    "arith.minsi": "min",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
    "tensor.extract": "gather",
    "math.absf": "abs",
    "math.powf": "pow",
}


def _short(op: Operation) -> str:
    """The op in a name; "" for what only selects, converts or indexes."""
    if op.name in _SILENT or isinstance(op, CONVERSIONS):
        return ""
    return _SHORT.get(op.name, op.name.partition(".")[2])
