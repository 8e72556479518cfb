"""What kernels are emitted with: linear forms as index values, and each pure op once in a scope."""

from xdsl.builder import Builder
from xdsl.dialects import affine
from xdsl.dialects.builtin import IndexType, f32
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint

from ingot.compiler.dialects.arith import CmpiOp, ConstantOp
from ingot.passes.kernel.emitter import Emitter
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
