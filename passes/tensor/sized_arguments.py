"""The arguments of a kernel whose sizes a call decides: flat buffers, and sizes in one of i32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    IndexType,
    MemRefType,
    i32,
)
from xdsl.ir import Block, BlockArgument, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.structured import element_type
from ingot.compiler.analysis.tensor_types import integer_width
from ingot.compiler.dialects import arith

from .sized_schedule import Size

_ELEMENTS = (Float32Type, Float16Type, BFloat16Type)

SizesOf = Callable[[SSAValue], Sequence[Size]]


@dataclass
class KernelArguments:
    """What a kernel reads and writes, found on the way, and its block."""

    sizes_of: SizesOf
    block: Block
    start: Emitter
    """Where the sizes are read, before everything else."""
    inputs: dict[SSAValue, BlockArgument] = field(default_factory=dict[SSAValue, BlockArgument])
    parameters: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Values of the host program, in the order of the sizes buffer, and what the kernel has."""
    sizes: BlockArgument | None = None

    def size(self, emit: Emitter, size: Size) -> SSAValue:
        """A size in the kernel: a constant, or read from the sizes buffer once."""
        if isinstance(size, int):
            return emit.index(size)
        if size not in self.parameters:
            if self.sizes is None:
                type_ = MemRefType(i32, [DYNAMIC_INDEX])
                self.sizes = self.block.insert_arg(type_, len(self.block.args))
                self.sizes.name_hint = "sizes"
            at = self.start.index(len(self.parameters))
            word = self.start.add(memref.LoadOp.get(self.sizes, [at])).res
            self.parameters[size] = self.start.add(arith.IndexCastOp(word, IndexType())).result
        return self.parameters[size]

    def input(self, value: SSAValue) -> BlockArgument:
        """The buffer of a tensor that is read."""
        if value not in self.inputs:
            self.inputs[value] = self.buffer(value)
        return self.inputs[value]

    def buffer(self, value: SSAValue) -> BlockArgument:
        """A new argument: the flat buffer of a tensor."""
        sizes = self.sizes_of(value)
        known = [s for s in sizes if isinstance(s, int)]
        count = prod(known) if len(known) == len(sizes) else DYNAMIC_INDEX
        element = element_type(value)
        if not isinstance(element, _ELEMENTS) and integer_width(element) not in (1, 8, 16, 32, 64):
            raise refuse(
                value,
                f"elements of type {element} in a tensor of dynamic shape are not supported yet",
            )
        argument = self.block.insert_arg(MemRefType(element, [count]), len(self.block.args))
        argument.name_hint = value.name_hint
        return argument

    def linear(self, emit: Emitter, value: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
        """The position of an element of a row-major tensor."""
        linear = emit.index(0)
        for i, (index, size) in enumerate(zip(indices, self.sizes_of(value), strict=True)):
            if i:
                linear = emit.add(arith.MuliOp(linear, self.size(emit, size))).result
            linear = emit.add(arith.AddiOp(linear, index)).result if i else index
        return linear
