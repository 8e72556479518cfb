"""Compute with complex numbers as pairs of floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.context import Context
from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects import complex as cx
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ComplexType,
    Float32Type,
    FloatAttr,
    FunctionType,
    ModuleOp,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.constants import constant_array, dense_constant
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, empty, make_generic
from ingot.compiler.analysis.tensor_types import as_tensor_type, tensor_type
from ingot.compiler.analysis.types import element_type
from ingot.compiler.dialects.arith import CmpiOp, SelectOp
from ingot.compiler.dialects.dispatch import SIGNATURE
from ingot.compiler.dialects.ingot import ScatterOp, SortOp
from ingot.compiler.dialects.ingot import YieldOp as IngotYieldOp
from ingot.compiler.dialects.linalg import (
    FillOp,
    GenericOp,
    IndexOp,
    IteratorTypeAttr,
    YieldOp,
)
from ingot.compiler.dialects.tensor import GenerateOp, PadOp
from ingot.passes.lowering.emitter import Emitter as ScalarEmitter
from ingot.passes.tensor.complex_formulas import FORMULAS

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[Any]

Pair = tuple[SSAValue, SSAValue]

_PARTWISE = (
    FillOp, tensor.EmptyOp, tensor.ExpandShapeOp, tensor.CollapseShapeOp, tensor.ReshapeOp,
    tensor.CastOp, tensor.ExtractSliceOp, tensor.InsertSliceOp, tensor.ExtractOp, tensor.InsertOp,
    tensor.ConcatOp, tensor.SplatOp, tensor.FromElementsOp, PadOp, GenerateOp, arith.SelectOp,
)  # fmt: skip
"""Ops of one result that do with each part what they do with the whole."""
_PAIRWISE = (
    GenericOp, YieldOp, scf.IfOp, scf.ForOp, scf.WhileOp, scf.YieldOp, scf.ConditionOp, SortOp,
    ScatterOp, IngotYieldOp,
)  # fmt: skip
"""Ops that take and give any number of values: both parts of a complex one."""


_WITH_BODIES = (GenericOp, scf.IfOp, scf.ForOp, scf.WhileOp, SortOp, ScatterOp)


def _is_complex(type_: Attribute) -> bool:
    return isinstance(element_type(type_), ComplexType)


def _part_type(type_: Attribute) -> Attribute:
    """The type of the real or the imaginary part."""
    if not _is_complex(type_):
        return type_
    tensor_ = as_tensor_type(type_)
    return f32 if tensor_ is None else TensorType(f32, tensor_.get_shape())


def _stored_type(type_: Attribute) -> Attribute:
    """The type of a function's argument or result: pairs in a last dimension of two."""
    tensor_ = as_tensor_type(type_)
    if tensor_ is None or not _is_complex(type_):
        return type_
    return TensorType(f32, [*tensor_.get_shape(), 2])


def _check(value: SSAValue) -> None:
    if not _is_complex(value.type):
        return
    number = cast("ComplexType", element_type(value.type))
    if not isinstance(number.element_type, Float32Type):
        raise refuse(value, f"{number} is not supported", "the complex type of devices is of f32")
    tensor_ = as_tensor_type(value.type)
    if tensor_ is not None and DYNAMIC_INDEX in tensor_.get_shape():
        raise refuse(
            value,
            f"the complex tensor {value.type} has a size known at run time only",
            "export the program with static shapes",
        )


@dataclass
class _Function:
    """Rewrites one function."""

    parts: dict[SSAValue, Pair] = field(default_factory=dict[SSAValue, Pair])
    old: list[Operation] = field(default_factory=list[Operation])
    old_arguments: list[BlockArgument] = field(default_factory=list[BlockArgument])

    def expand(self, function: func.FuncOp) -> None:
        block = function.body.block
        type_ = function.function_type
        if any(map(_is_complex, (*type_.inputs, *type_.outputs))):
            function.attributes.setdefault(SIGNATURE, type_)
        arguments = [a for a in block.args if _is_complex(a.type)]
        at_start = list(block.ops)
        for argument in arguments:
            _check(argument)
            whole = block.insert_arg(_stored_type(argument.type), argument.index)
            whole.name_hint, whole.location = argument.name_hint, argument.location
            emit = Emitter.before(at_start[0])
            self.parts[argument] = _unpacked(emit, whole, 0), _unpacked(emit, whole, 1)
        self.ops(at_start)
        for op in reversed(self.old):
            op.detach()
            op.erase(safe_erase=False)
        for argument in (*arguments, *self.old_arguments):
            argument.block.erase_arg(argument, safe_erase=False)
        function.properties["function_type"] = FunctionType.from_lists(
            [_stored_type(t) for t in type_.inputs], [_stored_type(t) for t in type_.outputs]
        )

    def ops(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            for result in op.results:
                _check(result)
            if isinstance(op, func.ReturnOp):
                self._return(op)
            elif isinstance(op, _WITH_BODIES):
                self._pairwise(op)
            elif any(_is_complex(v.type) for v in (*op.operands, *op.results)):
                self._expand(op)

    def _expand(self, op: Operation) -> None:
        if isinstance(op, arith.ConstantOp):
            self._constant(op)
        elif isinstance(op, cx.ConstantOp):
            self._scalar_constant(op)
        elif isinstance(op, cx.CreateOp):
            self.parts[op.results[0]] = op.real, op.imaginary
        elif op.name in FORMULAS:
            self._formula(op)
            return
        elif isinstance(op, _PARTWISE):
            self.parts[op.results[0]] = self._partwise(op, 0), self._partwise(op, 1)
        elif isinstance(op, _PAIRWISE):
            self._pairwise(op)
            return
        else:
            raise refuse(op, f"{op.name} on complex numbers is not supported")
        self.old.append(op)

    def _part(self, value: SSAValue, which: int) -> SSAValue:
        return self.parts[value][which] if value in self.parts else value

    def _flat(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [part for value in values for part in self.parts.get(value, (value,))]

    def _return(self, op: func.ReturnOp) -> None:
        emit = Emitter.before(op)
        op.operands = [_packed(emit, *self.parts[v]) if v in self.parts else v for v in op.operands]

    def _constant(self, op: arith.ConstantOp) -> None:
        emit = Emitter.before(op)
        values = constant_array(op.value)
        pairs: Array = values.reshape(-1).view("float32").reshape(*values.shape, 2)
        real, imaginary = (
            emit.add(arith.ConstantOp(dense_constant(pairs[..., which], f32))).result
            for which in (0, 1)
        )
        self.parts[op.result] = real, imaginary

    def _scalar_constant(self, op: cx.ConstantOp) -> None:
        emit = Emitter.before(op)
        numbers = cast("ArrayAttr[FloatAttr]", op.value)
        real, imaginary = (
            emit.add(arith.ConstantOp(FloatAttr(number.value.data, f32))).result
            for number in numbers
        )
        self.parts[op.results[0]] = real, imaginary

    def _formula(self, op: Operation) -> None:
        emit = ScalarEmitter.before_op(op)
        operands = [
            (emit.value(self.parts[v][0]), emit.value(self.parts[v][1])) for v in op.operands
        ]
        result = FORMULAS[op.name](*operands)
        if isinstance(result, tuple):
            self.parts[op.results[0]] = result[0].ssa, result[1].ssa
        else:
            op.results[0].replace_all_uses_with(result.ssa)
        self.old.append(op)

    def _partwise(self, op: Operation, which: int) -> SSAValue:
        new = op.clone()
        new.operands = [self._part(v, which) for v in new.operands]
        for result in new.results:
            result._type = _part_type(result.type)  # pyright: ignore[reportPrivateUsage]
        Emitter.before(op).add(new)
        for region in new.regions:
            for block in region.blocks:
                *body, last = block.ops
                self.ops(body)
                last.operands = [self._part(v, which) for v in last.operands]
        return new.results[0]

    def _pairwise(self, op: Operation) -> None:
        """Rebuild an op with both parts of each complex value, in its regions too."""
        if isinstance(op, GenericOp | SortOp | ScatterOp) and not _has_complex(op):
            return
        for region in op.regions:
            for block in region.blocks:
                self._block_arguments(block, 2 if isinstance(op, SortOp) else 1)
                self.ops(list(block.ops))
        types = [
            part for r in op.results for part in [_part_type(r.type)] * (1 + _is_complex(r.type))
        ]
        regions = [op.detach_region(region) for region in list(op.regions)]
        if isinstance(op, GenericOp):
            new: Operation = self._generic(op, types, regions[0])
        else:
            new = type(op).create(
                operands=self._flat(op.operands),
                result_types=types,
                properties=dict(op.properties),
                attributes=dict(op.attributes),
                regions=regions,
            )
        Emitter.before(op).add(new)
        results = list(new.results)
        for result in op.results:
            if _is_complex(result.type):
                self.parts[result] = results.pop(0), results.pop(0)
            else:
                result.replace_all_uses_with(results.pop(0))
        self.old.append(op)

    def _block_arguments(self, block: Block, group: int) -> None:
        """Put the real parts of `group` arguments that belong together before the imaginary."""
        arguments = list(block.args)
        for start in range(0, len(arguments), group):
            together = [a for a in arguments[start : start + group] if _is_complex(a.type)]
            if not together:
                continue
            place = together[0].index
            new = [block.insert_arg(_part_type(a.type), place) for a in [*together, *together]]
            new.reverse()
            self.parts |= zip(together, zip(new[:group], new[group:], strict=True), strict=True)
            self.old_arguments += together

    def _generic(self, op: GenericOp, types: Sequence[Attribute], body: Region) -> GenericOp:
        maps = [
            map_
            for value, map_ in zip(op.operands, op.indexing_maps.data, strict=True)
            for map_ in [map_] * (1 + _is_complex(value.type))
        ]
        new = GenericOp(
            self._flat(op.inputs), self._flat(op.outputs), body, maps, op.iterator_types, types
        )
        new.attributes |= op.attributes
        return new


def _has_complex(op: Operation) -> bool:
    values = [v for inner in op.walk() for v in (*inner.operands, *inner.results)]
    return any(_is_complex(v.type) for v in values)


def _dimensions(rank: int) -> list[AffineExpr]:
    return [AffineExpr.dimension(i) for i in range(rank)]


def _unpacked(emit: Emitter, pairs: SSAValue, which: int) -> SSAValue:
    """One part of a tensor of pairs."""
    shape = tensor_type(pairs).get_shape()[:-1]
    rank = len(shape)
    block = Block(arg_types=[f32, f32])
    Emitter.at_end(block, emit.location).add(YieldOp(block.args[0]))
    source = AffineMap(rank, 0, (*_dimensions(rank), AffineConstantExpr(which)))
    init = empty(emit, TensorType(f32, shape))
    maps = [source, AffineMap.identity(rank)]
    parallel = [IteratorTypeAttr.parallel()] * rank
    return make_generic(emit, [pairs], [init], maps, parallel, Region(block)).results[0]


def _packed(emit: Emitter, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    """A tensor of pairs from its parts."""
    shape = tensor_type(real).get_shape()
    rank = len(shape)
    block = Block(arg_types=[f32] * 3)
    inner = Emitter.at_end(block, emit.location)
    which = inner.add(IndexOp(rank)).result
    first = inner.add(CmpiOp(which, inner.index(0), "eq")).result
    chosen = inner.add(SelectOp(first, block.args[0], block.args[1])).result
    inner.add(YieldOp(chosen))
    source = AffineMap(rank + 1, 0, tuple(_dimensions(rank)))
    init = empty(emit, TensorType(f32, [*shape, 2]))
    maps = [source, source, AffineMap.identity(rank + 1)]
    parallel = [IteratorTypeAttr.parallel()] * (rank + 1)
    return make_generic(emit, [real, imaginary], [init], maps, parallel, Region(block)).results[0]


@dataclass(frozen=True)
class ExpandComplexPass(ModulePass):
    """Compute with complex<f32> as two floats (L1 to L1).

    Arguments and results hold pairs in a last dimension of two, as NumPy's complex64 lies in
    memory; `ingot.signature` keeps the types of the source for the bundle.

        %c = complex.mul %a, %b : complex<f32>
    becomes
        %re = arith.subf (arith.mulf %ar, %br), (arith.mulf %ai, %bi) : f32
        %im = arith.addf (arith.mulf %ar, %bi), (arith.mulf %ai, %br) : f32
    """

    name = "expand-complex"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal`."""
        for function in host_functions(op):
            if len(function.body.blocks) != 1:
                continue
            arguments = function.body.block.args
            if any(_is_complex(a.type) for a in arguments) or _has_complex(function):
                _Function().expand(function)
