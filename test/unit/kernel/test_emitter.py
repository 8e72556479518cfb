"""What kernels are emitted with: linear forms as index values, and each pure op once in a scope."""

import pytest
from xdsl.builder import Builder
from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType, f32
from xdsl.ir import Block
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.rewriter import InsertPoint

from ingot.compiler.dialects.arith import CmpiOp, ConstantOp
from ingot.passes.kernel.emitter import Emitter
from ingot.passes.kernel.indices import fold_below
from ingot.passes.kernel.linear import Linear


def _emitter(arguments: int = 2) -> tuple[Block, Emitter]:
    block = Block(arg_types=[IndexType()] * arguments)
    return block, Emitter(Builder(InsertPoint.at_end(block)))


def test_a_pure_op_is_emitted_once_for_its_class_operands_and_attributes() -> None:
    block, emitter = _emitter()
    x, y = block.args
    less = emitter.pure(CmpiOp, x, y, "slt")
    assert emitter.pure(CmpiOp, x, y, "slt") is less
    assert emitter.pure(CmpiOp, y, x, "slt") is not less
    assert emitter.pure(CmpiOp, x, y, "sle") is not less
    assert len(block.ops) == 3


def test_an_inner_block_uses_what_is_outside_and_keeps_its_own_to_itself() -> None:
    block, emitter = _emitter()
    x, y = block.args
    outer = emitter.materialize(Linear.of(x) + Linear.of(y))
    with emitter.inside(inner := Block()):
        assert emitter.materialize(Linear.of(x) + Linear.of(y)) is outer
        own = emitter.materialize(Linear.of(x) + 1)
        assert own.owner.parent is inner
    again = emitter.materialize(Linear.of(x) + 1)
    assert again is not own
    assert again.owner.parent is block


def test_zeros_of_either_sign_are_two_constants() -> None:
    _, emitter = _emitter()
    positive, negative = emitter.constant(0.0, f32), emitter.constant(-0.0, f32)
    assert positive is not negative
    assert emitter.constant(-0.0, f32) is negative


def test_a_form_becomes_a_constant_its_only_value_or_a_map_with_the_constant_last() -> None:
    block, emitter = _emitter()
    x, y = block.args
    constant = emitter.materialize(Linear((), 7)).owner
    assert isinstance(constant, ConstantOp)
    assert emitter.materialize(Linear.of(x)) is x
    apply = emitter.materialize(Linear.of(x) * 3 + 5 + Linear.of(y) * -1).owner
    assert isinstance(apply, affine.ApplyOp)
    assert list(apply.mapOperands) == [x, y]
    assert str(apply.map.data) == "(d0, d1) -> ((((d0 * 3) + (d1 * -1)) + 5))"


def test_of_an_index_in_a_known_range_only_what_changes_it_is_computed() -> None:
    block, emitter = _emitter()
    x, y = block.args
    emitter.below[x] = 32
    d = AffineDimExpr(0)
    assert emitter.form(d // 32, x).known == 0
    assert emitter.form(d % 32, x) == Linear.of(x)
    (half,) = (value for value, _ in emitter.form(d // 16, x).terms)
    assert emitter.below[half] == 2
    assert emitter.form(d // 32, y) != emitter.form(d % 32, y)
    assert emitter.stays_below(Linear.of(x) * 2 + Linear.of(half) + 3, 67)
    assert not emitter.stays_below(Linear.of(x) * 2 + Linear.of(half) + 3, 66)
    assert not emitter.stays_below(Linear.of(x) + -1, 66)
    assert not emitter.stays_below(Linear.of(x) * -1 + 40, 66)
    assert not emitter.stays_below(Linear.of(y), 66)


@pytest.mark.parametrize("end", [1, 2, 7, 32, 33])
def test_a_folded_expression_has_the_same_values_within_its_bounds(end: int) -> None:
    d = AffineDimExpr(0)
    for expr in (
        d,
        d % 1,
        d % 32,
        (d + 8) % 8,
        (d + 40) % 64 // 4,
        d * -3 + 2,
        (d * -1) // 4,
        (d + 2).ceil_div(3),
        d // 7 * 7 + d % 7,
    ):
        folded, least, most = fold_below(expr, end)
        values = [expr.eval([i], []) for i in range(end)]
        assert [folded.eval([i], []) for i in range(end)] == values
        assert all(least <= value <= most for value in values)


def test_divisions_that_do_nothing_are_left_out() -> None:
    d = AffineDimExpr(0)
    assert fold_below(d % 32, 32)[0] == d
    assert fold_below((d + 3) % 64, 32)[0] == d + 3
    assert fold_below(d // 32 * 4, 32)[0] == AffineConstantExpr(0)


def test_a_tile_at_a_known_place_has_a_known_size() -> None:
    block, emitter = _emitter()
    x, y = block.args
    left = AffineMap(1, 0, (AffineConstantExpr(16), AffineDimExpr(0) * -1 + 77))
    size = emitter.emit(affine.MinOp([x], AffineMapAttr(left))).result
    assert emitter.size(size) is size
    emitter.replaced[x] = emitter.index_value(64)
    assert emitter.size(size) == 13
    emitter.replaced[x] = y
    assert emitter.size(size) is size
