"""Smaller shapes: a size becomes another one everywhere in the module at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    ShapedType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.pattern_rewriter import PatternRewriteWalker, TypeConversionPattern

from ingot.compiler.driver.reduction.search import Part, defined_types


@dataclass(frozen=True)
class ShrinkSizes:
    """Replace sizes in all types, and the numbers of the same size that go with them.

    Which numbers those are is a guess (sizes of slices and reshapes, indices); where it is wrong
    the module does not verify, or is not interesting, and the sizes stay.
    """

    name: str
    smaller: Callable[[int], int]

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """The sizes above 1, the largest first."""
        sizes: set[int] = set()
        for op in module.walk():
            for type in defined_types(op):
                sizes.update(type.get_shape() if isinstance(type, ShapedType) else ())
        return [(size,) for size in sorted(sizes, reverse=True) if 0 < self.smaller(size) < size]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Replace the sizes by smaller ones."""
        pattern = _Resize({size: self.smaller(size) for (size,) in parts})
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(module)


def to(size: int) -> Callable[[int], int]:
    """Every size becomes this one."""
    return lambda _: size


def half(size: int) -> int:
    """Half of a size."""
    return size // 2


def one_less(size: int) -> int:
    """The next smaller size."""
    return size - 1


class _Resize(TypeConversionPattern):
    recursive = True

    def __init__(self, sizes: dict[int, int]) -> None:
        self.sizes = sizes

    def convert_type(self, typ: Attribute, /) -> Attribute | None:
        match typ:
            case TensorType() | MemRefType() | VectorType():
                return self._resized(typ)
            case DenseIntOrFPElementsAttr():
                return _refilled(cast("DenseIntOrFPElementsAttr[Any]", typ))
            case DenseArrayBase():
                return self._renumbered(cast("DenseArrayBase[Any]", typ))
            case IntegerAttr() if isinstance(cast("Any", typ).type, IndexType):
                number: int = cast("Any", typ).value.data
                return IntegerAttr(self.sizes.get(number, number), IndexType())
            case _:
                return None

    def _resized(self, type: ParametrizedAttribute) -> Attribute:
        shape = cast("ShapedType", type).get_shape()
        new = ArrayAttr([IntAttr(self.sizes.get(size, size)) for size in shape])
        old = cast("Any", type).shape
        return type.new([new if part is old else part for part in type.parameters])

    def _renumbered(self, array: DenseArrayBase[Any]) -> Attribute:
        if not hasattr(array.elt_type, "width"):
            return array
        numbers = cast("Sequence[int]", array.get_values())
        return DenseArrayBase.from_list(array.elt_type, [self.sizes.get(n, n) for n in numbers])


def _refilled(value: DenseIntOrFPElementsAttr[Any]) -> Attribute:
    """A constant whose type has been changed, with as many of its elements as there is room for."""
    count = 1
    for size in value.type.get_shape():
        count *= size
    width = value.type.element_type.compile_time_size
    data = value.data.data[: count * width]
    return DenseIntOrFPElementsAttr(value.type, BytesAttr(data))
