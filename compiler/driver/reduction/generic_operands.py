"""Fewer operands and results of `linalg.generic`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ingot.compiler.analysis.generics import erase
from ingot.compiler.analysis.structured import indexing_maps
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.tensor.generic_patterns import drop_inputs, set_operands

if TYPE_CHECKING:
    from ingot.compiler.driver.reduction.search import Part


@dataclass(frozen=True)
class DropGenericOperands:
    """Drop inputs that the body of a `linalg.generic` does not use, and results nobody uses."""

    name = "operands of linalg.generic"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions of generics, and numbers of operands, from the last."""
        return [
            (index, number)
            for index, op in enumerate(module.walk())
            if isinstance(op, GenericOp)
            for number in reversed(range(len(op.operands)))
            if _is_droppable(op, number)
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Drop them; a result only where another one is left."""
        ops = list(module.walk())
        for index, number in sorted(parts, reverse=True):
            op = ops[index]
            assert isinstance(op, GenericOp)
            if number < len(op.inputs):
                drop_inputs(op, {number})
            elif len(op.outputs) > 1:
                _drop_output(op, number - len(op.inputs))


def _is_droppable(op: GenericOp, number: int) -> bool:
    if op.body.block.args[number].uses:
        return False
    output = number - len(op.inputs)
    return output < 0 or (len(op.outputs) > 1 and not op.results[output].uses)


def _drop_output(op: GenericOp, output: int) -> Operation:
    """`op` without one of its results; an op cannot lose results, so it is made again."""
    body = op.body
    number = len(op.inputs) + output
    terminator = body.block.last_op
    assert terminator is not None
    terminator.operands = [v for n, v in enumerate(terminator.operands) if n != output]
    body.block.erase_arg(body.block.args[number])
    maps = [m for n, m in enumerate(indexing_maps(op)) if n != number]
    outputs = [v for n, v in enumerate(op.outputs) if n != output]
    types = [t for n, t in enumerate(op.result_types) if n != output]
    new = GenericOp(
        op.inputs, outputs, op.detach_region(body), op.indexing_maps, op.iterator_types, types
    )
    set_operands(new, op.inputs, outputs, maps)
    new.attributes.update(op.attributes)
    assert op.parent is not None
    op.parent.insert_op_before(new, op)
    kept = [result for n, result in enumerate(op.results) if n != output]
    for old, result in zip(kept, new.results, strict=True):
        old.replace_all_uses_with(result)
    erase(op)
    return new
