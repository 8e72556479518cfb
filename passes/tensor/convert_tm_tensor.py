"""Turn torch-mlir's `tm_tensor` ops, and IREE's `iree_linalg_ext`, into ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    elementwise,
    empty,
    erase,
    fill,
    loop_indices,
    open_sizes,
    reshape,
    size_of,
)
from ingot.compiler.analysis.neutral import neutral_element
from ingot.compiler.analysis.sizes import is_dynamic, is_sized
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import iree_linalg_ext, tm_tensor
from ingot.compiler.dialects.ingot import ScanOp, ScatterOp, SortOp, YieldOp

from .attention import attention


def _integer(op: Operation, name: str, default: int | None = None) -> int:
    attr = op.properties.get(name)
    if isinstance(attr, IntegerAttr):
        return attr.value.data
    if default is None:
        raise refuse(op, f"{op.name} needs the attribute {name}")
    return default


def _dimension(op: tm_tensor.TMTensorOp, value: SSAValue, default: int | None = None) -> int:
    dimension, rank = _integer(op, "dimension", default), len(shape_of(value))
    if not 0 <= dimension < rank:
        raise refuse(op, f"{op.name} along dimension {dimension} of a {value.type}")
    return dimension


def _check_body(
    op: tm_tensor.TMTensorOp, arguments: Sequence[Attribute], result: Attribute
) -> None:
    """Raise `Refusal` unless the body takes and yields these types."""
    block = op.body.blocks.first
    yielded = None if block is None else block.last_op
    if (
        block is None
        or [arg.type for arg in block.args] != list(arguments)
        or not isinstance(yielded, tm_tensor.YieldOp | iree_linalg_ext.YieldOp)
        or [v.type for v in yielded.operands] != [result]
    ):
        types = ", ".join(map(str, arguments))
        raise refuse(op, f"{op.name} needs a body that takes ({types}) and yields a {result}")


def _body(op: tm_tensor.TMTensorOp, order: Sequence[int], types: Sequence[Attribute]) -> Region:
    """The body as one of ours with arguments of `types`: argument `order[i]` is its argument i."""
    block = Block(arg_types=types)
    emit = Emitter.at_end(block, op.location)
    old = op.body.block
    values: dict[SSAValue, SSAValue] = {
        arg: block.args[i] for arg, i in zip(old.args, order, strict=True)
    }
    for inner in old.ops:
        if inner is old.last_op:
            emit.add(YieldOp(*(values.get(v, v) for v in inner.operands)))
        else:
            emit.builder.insert(inner.clone(values))
    return Region(block)


def _neutral(body: Block, element: Attribute) -> IntegerAttr | FloatAttr | None:
    """What changes no element when the body combines it with one; None for any other body."""
    combine = body.first_op
    if combine is None or combine.next_op is not body.last_op or len(combine.operands) != 2:
        return None
    if set(combine.operands) != set(body.args):
        return None
    return neutral_element(combine.name, element)


def _slice(emit: Emitter, value: SSAValue, dimension: int, start: int, size: int) -> SSAValue:
    shape = list(shape_of(value))
    offsets = [start if dim == dimension else 0 for dim in range(len(shape))]
    shape[dimension] = size
    made = tensor.ExtractSliceOp.from_static_parameters(value, offsets, shape)
    return emit.add(made).result


def _first(emit: Emitter, value: SSAValue, dimension: int, like: SSAValue) -> SSAValue:
    """As many elements along `dimension` as `like` has."""
    if not any(map(is_dynamic, (value, like))):
        return _slice(emit, value, dimension, 0, shape_of(like)[dimension])
    rank = len(shape_of(value))
    sizes = [size_of(emit, like if d == dimension else value, d) for d in range(rank)]
    made = tensor.ExtractSliceOp(value, [0] * rank, sizes, [1] * rank, like.type)
    return emit.add(made).result


def _scan(op: tm_tensor.ScanLike, emit: Emitter) -> Sequence[SSAValue]:
    """Inclusive: the first element, and the scan of the others that starts from it.

    The accumulator's contents then do not matter, and a neutral element in their place makes it the
    scan of all elements. The second result is the last value of the body, which the last element of
    an exclusive scan has not gone through.
    """
    if len(op.inputs) != 1 or len(op.outputs) != 2:
        raise refuse(op, f"{op.name} needs one input, and an output and an accumulator")
    source, output, init = op.inputs[0], *op.outputs
    element = tensor_type(source).element_type
    dimension = _dimension(op, source)
    shape = shape_of(source)
    dropped = (*shape[:dimension], *shape[dimension + 1 :])
    types = {tensor_type(v).element_type for v in (source, output, init)}
    if types != {element} or shape_of(output) != shape or shape_of(init) != dropped:
        raise refuse(op, f"{op.name} needs an output and an accumulator that fit its input")
    _check_body(op, [element, element], element)
    length = shape[dimension]
    if length == 0:
        return [output, init]
    inclusive = bool(_integer(op, "inclusive", 1))
    body = _body(op, [0, 1], [element, element])
    neutral = _neutral(op.body.block, element) if inclusive else None
    if neutral is not None:
        scalar = emit.add(arith.ConstantOp(neutral)).result
        start = fill(emit, scalar, tensor_type(init), open_sizes(emit, init))
        return emit.add(ScanOp(source, output, start, dimension, True, body)).results
    if not inclusive and not op.results[1].uses:
        return emit.add(ScanOp(source, output, init, dimension, False, body)).results
    if is_sized(op):
        raise refuse(op, f"{op.name} of dynamic shape with such a body is not supported")
    first = reshape(emit, _slice(emit, source, dimension, 0, 1), dropped) if inclusive else init
    # What is combined: after the first, or up to the last but one.
    rest = _slice(emit, source, dimension, 1 if inclusive else 0, length - 1)
    place = empty(emit, tensor_type(rest))
    scan = emit.add(ScanOp(rest, place, first, dimension, True, body))
    unit = [1 if dim == dimension else size for dim, size in enumerate(shape)]
    concat = tensor.ConcatOp.create(
        operands=[reshape(emit, first, unit), scan.scanned],
        result_types=[output.type],
        properties={"dim": IntegerAttr(dimension, 64)},
    )
    return [emit.add(concat).result, scan.last]


def _sort(op: tm_tensor.SortLike, emit: Emitter) -> Sequence[SSAValue]:
    values = list(op.outputs)
    if op.inputs or not values or any(shape_of(v) != shape_of(values[0]) for v in values):
        raise refuse(op, f"{op.name} needs outputs of one shape, and no inputs")
    pairs = [tensor_type(v).element_type for v in values for _ in range(2)]
    _check_body(op, pairs, IntegerType(1))
    dimension = _dimension(op, values[0], 0 if len(shape_of(values[0])) == 1 else None)
    return emit.add(SortOp(values, dimension, _body(op, range(len(pairs)), pairs))).results


def _positions(
    emit: Emitter, type_: TensorType[Attribute], dimension: int, sizes: Sequence[SSAValue]
) -> SSAValue:
    """The position of each element along a dimension."""

    def position(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loop = loop_indices(inner, type_.get_num_dims())[dimension]
        return [inner.add(arith.IndexCastOp(loop, type_.element_type)).result]

    return elementwise(emit, type_, [], [], position, sizes)


def _topk(op: tm_tensor.TopkLike, emit: Emitter) -> list[SSAValue]:
    """The first elements of the sorted lines, with their indices (given, or positions)."""
    if len(op.inputs) not in (1, 2) or len(op.outputs) != 2:
        raise refuse(op, f"{op.name} needs values, maybe indices, and an output for each")
    source = op.inputs[0]
    dimension, shape = _dimension(op, source), shape_of(source)
    kept = [shape_of(output) for output in op.outputs]
    count = kept[0][dimension] if len(kept[0]) == len(shape) else -1
    expected = tuple(count if dim == dimension else size for dim, size in enumerate(shape))
    too_many = shape[dimension] >= 0 and count > shape[dimension]
    if kept != [expected, expected] or (count < 0 and count != DYNAMIC_INDEX) or too_many:
        raise refuse(
            op,
            f"{op.name} needs outputs of the shape of its input, shorter along "
            f"dimension {dimension}",
        )
    element, index = tensor_type(source).element_type, tensor_type(op.outputs[1]).element_type
    _check_body(op, [element, element], IntegerType(1))
    if len(op.inputs) == 2:
        indices = op.inputs[1]
    else:
        sizes = open_sizes(emit, source)
        indices = _positions(emit, TensorType(index, shape), dimension, sizes)
    types = [v.type for v in op.outputs]
    if shape_of(indices) != shape or [tensor_type(v).element_type for v in (source, indices)] != [
        tensor_type(v).element_type for v in op.outputs
    ]:
        raise refuse(op, f"{op.name} needs outputs of the types of its values and indices: {types}")
    body = _body(op, [0, 1], [element, element, index, index])
    results = emit.add(SortOp([source, indices], dimension, body)).results
    return [
        _first(emit, result, dimension, output)
        for result, output in zip(results, op.outputs, strict=True)
    ]


def _scatter(op: tm_tensor.ScatterLike, emit: Emitter) -> Sequence[SSAValue]:
    if len(op.inputs) != 2 or len(op.outputs) != 1:
        raise refuse(op, f"{op.name} needs updates, indices and one output")
    updates, indices = op.inputs
    (output,) = op.outputs
    index_type = tensor_type(indices)
    if isinstance(index_type.element_type, IndexType):
        cast: TensorType[Attribute] = TensorType(i32, index_type.get_shape())
        indices = emit.add(arith.IndexCastOp(indices, cast)).result
    attr = op.properties.get("dimension_map")
    dims: Sequence[int] = attr.get_values() if isinstance(attr, DenseArrayBase) else [0]
    shape, entries = shape_of(output), list(shape_of(indices))
    window = [size for dim, size in enumerate(shape) if dim not in dims]
    if len(entries) + len(window) == len(shape_of(updates)):
        # One coordinate may go without a dimension of its own.
        entries.append(1)
        indices = reshape(emit, indices, entries)
    valid = len(set(dims)) == len(dims) and all(0 <= dim < len(shape) for dim in dims)
    if not valid or entries[-1] != len(dims) or list(shape_of(updates)) != [*entries[:-1], *window]:
        raise refuse(
            op,
            f"{op.name} needs updates of the shape of the indices, then the dimensions of the "
            "output that no index names",
        )
    element, update = tensor_type(output).element_type, tensor_type(updates).element_type
    _check_body(op, [update, element], element)
    body = _body(op, [1, 0], [element, update])
    unique = bool(_integer(op, "unique_indices", 0))
    made = ScatterOp(indices, [updates], [output], dims, body, unique)
    return emit.add(made).results


def _converted(op: tm_tensor.TMTensorOp, emit: Emitter) -> Sequence[SSAValue]:
    match op:
        case tm_tensor.ScanLike():
            return _scan(op, emit)
        case tm_tensor.SortLike():
            return _sort(op, emit)
        case tm_tensor.TopkLike():
            return _topk(op, emit)
        case tm_tensor.ScatterLike():
            return _scatter(op, emit)
        case tm_tensor.AttentionOp():
            return [attention(op, emit)]
        case _:
            raise AssertionError(f"{op.name} has no conversion")


@dataclass(frozen=True)
class ConvertTMTensorPass(ModulePass):
    """Turn scans, sorts, top-k and scatters of `tm_tensor` and `iree_linalg_ext` into ours, and
    attention into generics (L1 to L1).

        tm_tensor.sort dimension(0) outs(%x : tensor<8xf32>) { tm_tensor.yield %before }
    becomes
        ingot.sort dimension = 0 ins(%x : tensor<8xf32>) { ingot.yield %before }
    """

    name = "convert-tm-tensor"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for other ops and forms."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, tm_tensor.TMTensorOp):
                    results = _converted(inner, Emitter.before(inner))
                    for old, new in zip(inner.results, results, strict=True):
                        new.name_hint = new.name_hint or old.name_hint
                        old.replace_all_uses_with(new)
                    erase(inner)
