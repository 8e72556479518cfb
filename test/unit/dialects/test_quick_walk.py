"""Walking visits what xDSL's own walk visits, also while ops are erased."""

from __future__ import annotations

import pytest
from xdsl.ir import Block, Operation, Region

from ingot.compiler.dialects import quick_walk
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module

PROGRAM = """
func.func @f(%p: i1, %x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = scf.if %p -> (i32) {
    %c = arith.muli %a, %a : i32
    scf.yield %c : i32
  } else {
    scf.yield %x : i32
  }
  cf.br ^end(%b : i32)
^end(%y: i32):
  return %y : i32
}
func.func private @g()
"""


def module() -> Operation:
    return read_module(PROGRAM, "walk.mlir", make_context())


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("region_first", [False, True])
def test_order(reverse: bool, region_first: bool) -> None:
    op = module()
    how = {"reverse": reverse, "region_first": region_first}
    assert list(op.walk(**how)) == list(quick_walk.XDSLS[Operation](op, **how))
    assert len(list(op.walk())) == 10
    for region in op.regions:
        assert list(region.walk(**how)) == list(quick_walk.XDSLS[Region](region, **how))
        for block in region.blocks:
            assert list(block.walk(**how)) == list(quick_walk.XDSLS[Block](block, **how))


def test_what_is_visited_may_be_erased() -> None:
    op = module()
    seen: list[str] = []
    for inner in op.walk():
        seen.append(inner.name)
        if inner.name == "scf.if":
            inner.results[0].replace_all_uses_with(inner.operands[0].block.args[1])
            inner.detach()
    assert seen[2:5] == ["arith.addi", "scf.if", "arith.muli"]
    assert "scf.if" not in [inner.name for inner in op.walk()]


def test_it_is_in_place() -> None:
    assert (Operation.walk, Region.walk, Block.walk) == tuple(quick_walk.WALKS.values())
