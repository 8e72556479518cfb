"""Every named op of the table: parsed, printed and generalized as upstream does."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.linalg import FillOp, GenericOp
from ingot.compiler.dialects.linalg.named import parse_map
from ingot.compiler.dialects.linalg.table import NAMED_OPS, UNARY, NamedOpSpec
from ingot.compiler.frontends.reader import read_module
from ingot.passes.tensor.linalg_generalize_named_ops import LinalgGeneralizeNamedOps

MLIR_OPT = shutil.which("mlir-opt-19") or shutil.which("mlir-opt")

FLOATS_ONLY = {*UNARY, "powf"}
LATER_THAN_19 = {"conv_2d_nchw_fchw_q", "conv_2d_nhwgc_gfhwc", "conv_2d_nhwgc_gfhwc_q"}
OTHER_LOOP_ORDER = {
    "conv_3d_ncdhw_fcdhw", "depthwise_conv_1d_ncw_cw", "depthwise_conv_2d_nchw_chw",
    "depthwise_conv_3d_ndhwc_dhwc", "depthwise_conv_3d_ncdhw_cdhw", "depthwise_conv_3d_ndhwc_dhwcm",
}  # fmt: skip
"""Ops for which upstream orders the loops otherwise than the output's dimensions."""


def is_quantized(name: str) -> bool:
    return name.endswith("_q") or name.startswith("quantized")


def text_of(spec: NamedOpSpec, element: str, accumulator: str) -> str:
    """A function of one op, with sizes, strides and dilations drawn at random."""
    name = spec.name.removeprefix("linalg.")
    draw = random.Random(spec.name)
    types = [element] * spec.num_inputs
    attributes = ""
    if spec.elementwise:
        shapes: list[Sequence[int] | None] = [(3, 4)] * (spec.num_inputs + 1)
        if spec.scalar_inputs:
            shapes[0] = None
        if name == "select":
            types[0] = "i1"
    else:
        strides = [draw.choice([1, 2, 3]) for _ in spec.spatial]
        dilations = [draw.choice([1, 2]) for _ in spec.spatial]
        sizes = [draw.choice([2, 3, 4]) for _ in spec.loops]
        shapes = []
        for text in spec.maps:
            map = parse_map(text, spec.loops, spec.spatial, strides, dilations)
            shapes.append([last + 1 for last in map.eval([size - 1 for size in sizes], [])])
        if is_quantized(name):
            types[2:] = [accumulator, accumulator]
            shapes[2:4] = [None, None]
        if spec.strided:
            type = f"tensor<{len(strides)}xi64>"
            attributes = (
                f" {{dilations = dense<{dilations}> : {type}, strides = dense<{strides}> : {type}}}"
            )

    def shaped(shape: Sequence[int] | None, element: str) -> str:
        dims = "".join(f"{size}x" for size in shape or ())
        return element if shape is None else f"tensor<{dims}{element}>"

    ins = [shaped(shape, type) for shape, type in zip(shapes, types, strict=False)]
    out = shaped(shapes[-1], accumulator)
    names = [f"%a{i}" for i in range(len(ins))]
    args = ", ".join(f"{name}: {type}" for name, type in zip(names, ins, strict=True))
    return (
        f"func.func @{name}_{element}_{accumulator}({args}, %o: {out}) -> {out} {{\n"
        f"  %r = {spec.name}{attributes} ins({', '.join(names)} : {', '.join(ins)}) "
        f"outs(%o : {out}) -> {out}\n  return %r : {out}\n}}\n"
    )


def cases(spec: NamedOpSpec) -> list[str]:
    """The types that an op is tried with: equal ones, and those that it casts."""
    name = spec.name.removeprefix("linalg.")
    if spec.elementwise and name not in ("copy", "fill"):
        pairs = [] if name == "div_unsigned" else [("f32", "f32")]
        pairs += [] if name in FLOATS_ONLY else [("i32", "i32")]
    elif is_quantized(name):
        pairs = [("i8", "i32"), ("i32", "i32")]
    else:
        pairs = [("f32", "f32"), ("f16", "f32"), ("i8", "i32"), ("i8", "f32"), ("f32", "f64")]
    return [text_of(spec, *pair) for pair in pairs]


def functions(module: ModuleOp) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def plain(op: FuncOp) -> str:
    """The text without the names of values."""
    for inner in op.walk():
        for value in (
            *inner.results,
            *(a for r in inner.regions for b in r.blocks for a in b.args),
        ):
            value.name_hint = None
    return str(op)


@pytest.mark.parametrize("spec", NAMED_OPS.values(), ids=lambda spec: spec.name)
def test_round_trip_and_generalization(spec: NamedOpSpec) -> None:
    context = make_context()
    module = read_module("".join(cases(spec)), "named.mlir", context)
    module.verify()
    assert str(read_module(str(module), "again.mlir", context)) == str(module)
    LinalgGeneralizeNamedOps().apply(context, module)
    module.verify()
    structured = [op for op in module.walk() if op.name.startswith("linalg.") and op.regions]
    assert {type(op) for op in structured} <= {GenericOp, FillOp}


@pytest.mark.skipif(MLIR_OPT is None, reason="needs mlir-opt")
def test_generics_are_those_of_upstream() -> None:
    assert MLIR_OPT is not None
    # The reciprocal is the same with its constant in another place; LLVM 19 forgets a cast in
    # batch_reduce_matmul.
    others = {*LATER_THAN_19, *OTHER_LOOP_ORDER, "reciprocal", "fill", "batch_reduce_matmul"}
    specs = [s for s in NAMED_OPS.values() if s.name.removeprefix("linalg.") not in others]
    context = make_context()
    ours = read_module("".join(t for s in specs for t in cases(s)), "ours.mlir", context)
    printed = str(ours)
    LinalgGeneralizeNamedOps().apply(context, ours)
    upstream = subprocess.run(
        [MLIR_OPT, "--linalg-generalize-named-ops"], input=printed, capture_output=True, text=True
    )
    assert upstream.returncode == 0, upstream.stderr
    theirs = functions(read_module(upstream.stdout, "theirs.mlir", context))
    for name, function in functions(ours).items():
        assert plain(function) == plain(theirs[name])


def test_strides_for_an_op_without_them_are_refused() -> None:
    text = text_of(NAMED_OPS["linalg.matmul"], "f32", "f32").replace(
        "linalg.matmul ins", "linalg.matmul {strides = dense<1> : tensor<2xi64>} ins"
    )
    with pytest.raises(Exception, match="does not take strides"):
        read_module(text, "m.mlir", make_context()).verify()
