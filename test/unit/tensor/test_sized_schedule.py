"""What a thread computes of tensors whose sizes a call decides."""

from __future__ import annotations

from xdsl.dialects import func

from ingot.compiler.analysis.structured import is_parallel
from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.frontends.reader import read_module
from ingot.passes.tensor.sized_schedule import TILE, SizedSchedule, choose

BODIES = {
    "product": "%p = arith.mulf %a, %b : f32\n%s = arith.addf %o, %p : f32",
    "sum": "%s = arith.addf %o, %a : f32",
    "last": "%s = arith.addf %a, %a : f32",
    "difference": "%s = arith.subf %o, %a : f32",
}


def schedule(maps: str, kinds: str, inputs: int, body: str, sizes: list[int]) -> SizedSchedule:
    """The schedule of a generic on tensors with the given sizes of its parallel loops."""
    ranks = [part.split("->")[1].count(",") + 1 for part in maps.split(";")]
    types = [f"tensor<{'?x' * rank}f32>" for rank in ranks]
    names = [f"%x{i}" for i in range(len(types))]
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    block = ", ".join([*["%a: f32", "%b: f32"][:inputs], "%o: f32"])
    used = ", ".join(f"affine_map<{m}>" for m in maps.split(";"))
    text = f"""func.func @f({arguments}) -> {types[-1]} {{
      %r = linalg.generic {{indexing_maps = [{used}], iterator_types = [{kinds}]}}
          ins({", ".join(names[:-1])} : {", ".join(types[:-1])}) outs({names[-1]} : {types[-1]}) {{
      ^bb0({block}):
        {BODIES[body]}
        linalg.yield %s : f32
      }} -> {types[-1]}
      return %r : {types[-1]}
    }}"""
    module = read_module(text, "test.mlir", make_context())
    function = module.body.block.first_op
    assert isinstance(function, func.FuncOp)
    op = function.body.block.first_op
    assert isinstance(op, GenericOp)
    loops = [i for i, parallel in enumerate(is_parallel(op)) if parallel]
    return choose(op, loops, sizes, {})


PARALLEL, REDUCED = '"parallel"', '"reduction"'


def test_a_product_is_computed_in_tiles() -> None:
    maps = "(i, j, k) -> (i, k);(i, j, k) -> (k, j);(i, j, k) -> (i, j)"
    kinds = f"{PARALLEL}, {PARALLEL}, {REDUCED}"
    assert schedule(maps, kinds, 2, "product", [64, 64, 64]).factors == (TILE, TILE)
    narrow = schedule(maps, kinds, 2, "product", [64, 1, 64])
    assert narrow.factors == (1, 1)
    assert narrow.lanes


def test_a_threadgroup_shares_a_sum() -> None:
    maps = "(i, j) -> (i, j);(i, j) -> (i)"
    assert schedule(maps, f"{PARALLEL}, {REDUCED}", 1, "sum", [64, 64]).lanes
    assert not schedule(maps, f"{PARALLEL}, {REDUCED}", 1, "difference", [64, 64]).lanes


def test_elements_along_the_last_loop_are_computed_together() -> None:
    maps = "(i, j) -> (i, j);(i, j) -> (i, j)"
    assert schedule(maps, f"{PARALLEL}, {PARALLEL}", 1, "last", [64, 64]).factors == (1, TILE)
    assert schedule(maps, f"{PARALLEL}, {PARALLEL}", 1, "last", [64, 3]).factors == (1, 1)
