"""Sums of products: convolutions, matrix products, fully connected layers.

Floats are accumulated in f32 at least. Integers are widened to the type of the result first, and
lose their zero points there; padding has the value of the zero point, so that it adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, reshape
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.tosa import TosaOp
from ingot.passes.tosa.builders import (
    accumulate,
    broadcast_map,
    dims_map,
    element,
    elementwise,
    filled,
    is_integer,
    map_of,
    not_defined,
    padded,
    reverse,
    start,
)
from ingot.passes.tosa.constants import constant_attribute, zero_point
from ingot.passes.tosa.reductions import wide_float
from ingot.passes.tosa.scalars import add, constant, extend, is_float, mul, narrow, sub


@dataclass(frozen=True)
class Factor:
    """One side of a product: a tensor, how the loops read it, and its zero point."""

    value: SSAValue
    map: AffineMap
    zero_point: int

    def in_type(self, emit: Emitter, scalar: SSAValue, wide: Attribute) -> SSAValue:
        """An element, widened and without its zero point."""
        scalar = extend(emit, scalar, wide)
        if self.zero_point == 0:
            return scalar
        return sub(emit, scalar, constant(emit, self.zero_point, wide))


def sum_of_products(
    emit: Emitter,
    factors: Sequence[Factor],
    shape: Sequence[int],
    out_map: AffineMap,
    to: Attribute,
) -> SSAValue:
    """Multiply two factors and sum over the loops that `out_map` leaves out.

    The result is of type `to` for integers, and of at least f32 for floats.
    """
    wide = wide_float(to)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        a, b = (f.in_type(inner, arg, wide) for f, arg in zip(factors, args, strict=False))
        return [add(inner, args[2], mul(inner, a, b))]

    reads = [(f.value, f.map) for f in factors]
    init = start(emit, 0, TensorType(wide, shape), out_map, reads)
    inputs, maps = [f.value for f in factors], [f.map for f in factors]
    return accumulate(emit, inputs, maps, [init], out_map, body)[0]


def with_bias(
    op: TosaOp, emit: Emitter, total: SSAValue, bias: SSAValue | None, to: Attribute
) -> SSAValue:
    """Add a bias along the last dimension, and round to the type of the result."""
    shape = shape_of(total)
    wide = element(total)
    if bias is not None and _is_zero(bias):
        bias = None
    if bias is None and wide == to:
        return total
    inputs = [total] if bias is None else [total, bias]
    maps = [broadcast_map(op, shape_of(value), shape) for value in inputs]

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value = args[0]
        if len(args) == 2:
            value = add(inner, value, extend(inner, args[1], wide))
        return [narrow(inner, value, to) if is_float(wide) else value]

    return elementwise(emit, TensorType(to, shape), inputs, maps, body)


def _is_zero(bias: SSAValue) -> bool:
    """Whether adding a constant changes nothing; -0.0 + 0.0 differs only in sign."""
    values = constant_attribute(bias)
    return values is not None and not any(values.data.data)


def _factors(op: TosaOp, left: AffineMap, right: AffineMap) -> tuple[Factor, Factor]:
    """The first two operands with their zero points, which are the last two."""
    a, b = op.ins[0], op.ins[1]
    types = [element(value) for value in (a, b, op.results[0])]
    widths = [cast("IntegerType | AnyFloat", type_).bitwidth for type_ in types]
    if not all(map(is_float, types)) and not (
        all(map(is_integer, types)) and max(widths[:2]) <= widths[2] and widths[2] >= 32
    ):
        raise not_defined(op)
    zero_a = zero_point(op, op.ins[-2], "the first zero point")
    zero_b = zero_point(op, op.ins[-1], "the second zero point")
    return Factor(a, left, zero_a), Factor(b, right, zero_b)


def lower_matmul(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`result[n, h, w] = sum over c of a[n, h, c] * b[n, c, w]`; one batch serves all."""
    result = tensor_type(op.results[0])
    batch = result.get_shape()[0]
    maps: list[AffineMap] = []
    for value, dims in ((op.ins[0], (1, 3)), (op.ins[1], (3, 2))):
        lead = broadcast_map(op, shape_of(value)[:1], [batch]).results[0]
        maps.append(map_of(4, [lead, *map(AffineDimExpr, dims)]))
    factors = _factors(op, maps[0], maps[1])
    to = result.element_type
    total = sum_of_products(emit, factors, result.get_shape(), dims_map(4, [0, 1, 2]), to)
    return [with_bias(op, emit, total, None, to)]


def lower_fully_connected(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`result[n, o] = bias[o] + sum over i of input[n, i] * weight[o, i]`."""
    result = tensor_type(op.results[0])
    factors = _factors(op, dims_map(3, [0, 2]), dims_map(3, [1, 2]))
    to = result.element_type
    total = sum_of_products(emit, factors, result.get_shape(), dims_map(3, [0, 1]), to)
    return [with_bias(op, emit, total, op.ins[2], to)]


def window_exprs(
    out_dims: Sequence[int],
    kernel_dims: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> list[AffineExpr]:
    """Where a window at an output position reads: `o * stride + k * dilation`."""
    return [
        _scaled(o, s) + _scaled(k, d)
        for o, k, s, d in zip(out_dims, kernel_dims, stride, dilation, strict=True)
    ]


def _scaled(dim: int, factor: int) -> AffineExpr:
    expr = AffineDimExpr(dim)
    return expr if factor == 1 else expr * factor


def check_window(
    op: TosaOp,
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    out: Sequence[int],
) -> None:
    """Refuse windows that reach past the padded input, or leave room for another one."""
    for size, k, s, d, o in zip(sizes, kernel, stride, dilation, out, strict=True):
        if s < 1 or d < 1:
            raise refuse(op, f"{op.name} needs strides and dilations of at least 1")
        if (size - (k - 1) * d - 1) // s + 1 != o:
            raise refuse(
                op,
                f"{op.name}: windows of {k} by stride {s} and dilation {d} over {size} padded "
                f"elements do not make {o}",
            )


def pad_pairs(op: TosaOp, name: str, spatial: int) -> tuple[Sequence[int], Sequence[int]]:
    """The padding in front of and behind each spatial dimension."""
    numbers = op.ints(name)
    if len(numbers) != 2 * spatial:
        raise refuse(op, f"{op.name} needs {2 * spatial} numbers as '{name}', not {len(numbers)}")
    return numbers[0::2], numbers[1::2]


def spatial_ints(op: TosaOp, name: str, spatial: int) -> tuple[int, ...]:
    """One number for each spatial dimension."""
    numbers = op.ints(name)
    if len(numbers) != spatial:
        raise refuse(op, f"{op.name} needs {spatial} numbers as '{name}', not {len(numbers)}")
    return numbers


def lower_convolution(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """conv2d and conv3d: input N,...,C; weight O,...,C; result N,...,O."""
    result = tensor_type(op.results[0])
    spatial = result.get_num_dims() - 2
    low, high = pad_pairs(op, "pad", spatial)
    stride, dilation = (spatial_ints(op, name, spatial) for name in ("stride", "dilation"))
    kernel = shape_of(op.ins[1])[1:-1]
    zero = zero_point(op, op.ins[3], "the input zero point")
    source = padded(emit, op.ins[0], (0, *low, 0), (0, *high, 0), zero)
    out = result.get_shape()[1:-1]
    check_window(op, shape_of(source)[1:-1], kernel, stride, dilation, out)
    return [_direct_convolution(op, emit, source, op.ins[1], stride, dilation)]


def _direct_convolution(
    op: TosaOp,
    emit: Emitter,
    source: SSAValue,
    weight: SSAValue,
    stride: Sequence[int],
    dilation: Sequence[int],
) -> SSAValue:
    """Loops: n, spatial..., output channel, window..., input channel."""
    result = tensor_type(op.results[0])
    spatial = len(stride)
    loops = 2 * spatial + 3
    out_dims = range(1, 1 + spatial)
    channel = 1 + spatial
    window = range(2 + spatial, 2 + 2 * spatial)
    inner_channel = AffineDimExpr(loops - 1)
    positions = window_exprs(out_dims, window, stride, dilation)
    left, right = _factors(
        op,
        map_of(loops, [AffineDimExpr(0), *positions, inner_channel]),
        map_of(loops, [AffineDimExpr(channel), *map(AffineDimExpr, window), inner_channel]),
    )
    factors = (
        Factor(source, left.map, left.zero_point),
        Factor(weight, right.map, right.zero_point),
    )
    out_map = dims_map(loops, range(2 + spatial))
    to = result.element_type
    total = sum_of_products(emit, factors, result.get_shape(), out_map, to)
    return with_bias(op, emit, total, op.ins[2], to)


def lower_depthwise(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """Input N,H,W,C; weight KH,KW,C,M; the result's channels are C times M."""
    result = tensor_type(op.results[0])
    low, high = pad_pairs(op, "pad", 2)
    stride, dilation = (spatial_ints(op, name, 2) for name in ("stride", "dilation"))
    *kernel, channels, multiplier = shape_of(op.ins[1])
    n, *out, outputs = result.get_shape()
    if outputs != channels * multiplier:
        raise refuse(
            op, f"tosa.depthwise_conv2d makes {channels * multiplier} channels, not {outputs}"
        )
    zero = zero_point(op, op.ins[3], "the input zero point")
    source = padded(emit, op.ins[0], (0, *low, 0), (0, *high, 0), zero)
    check_window(op, shape_of(source)[1:-1], kernel, stride, dilation, out)
    # Loops: n, y, x, channel, multiplier, window y, window x.
    positions = window_exprs((1, 2), (5, 6), stride, dilation)
    left, right = _factors(
        op, map_of(7, [AffineDimExpr(0), *positions, AffineDimExpr(3)]), dims_map(7, [5, 6, 3, 4])
    )
    factors = (Factor(source, left.map, left.zero_point), right)
    shape = [n, *out, channels, multiplier]
    to = result.element_type
    total = sum_of_products(emit, factors, shape, dims_map(7, range(5)), to)
    merged = reshape(emit, total, result.get_shape())
    return [with_bias(op, emit, merged, op.ins[2], to)]


def lower_transpose_convolution(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """A convolution by the reversed window over the input with `stride - 1` zeros in between."""
    result = tensor_type(op.results[0])
    low, high = pad_pairs(op, "out_pad", 2)
    stride = spatial_ints(op, "stride", 2)
    kernel = shape_of(op.ins[1])[1:3]
    _, *sizes, _ = shape_of(op.ins[0])
    _, *out, _ = result.get_shape()
    zero = zero_point(op, op.ins[3], "the input zero point")
    front = [k - 1 + p for k, p in zip(kernel, low, strict=True)]
    if min(front) < 0:
        raise refuse(op, "tosa.transpose_conv2d needs an out_pad above minus the kernel's size")
    expected = [
        (size - 1) * s + a + b + k
        for size, s, a, b, k in zip(sizes, stride, low, high, kernel, strict=True)
    ]
    if out != expected:
        raise refuse(op, f"tosa.transpose_conv2d makes an image of {expected}, not {out}")
    dilated = [(size - 1) * s + 1 for size, s in zip(sizes, stride, strict=True)]
    needed = [o + k - 1 for o, k in zip(out, kernel, strict=True)]
    extents = [max(n, f + d) for n, f, d in zip(needed, front, dilated, strict=True)]
    n, *_, channels = shape_of(op.ins[0])
    spread = _spread(
        emit, op.ins[0], zero, [n, *extents, channels], [0, *front, 0], [1, *stride, 1]
    )
    # What lies behind the last window is cut off, so that the loops are as long as the result.
    used = [n, *needed, channels]
    if used != list(shape_of(spread)):
        type_ = TensorType(element(spread), used)
        cut = tensor.ExtractSliceOp(spread, [0] * 4, used, [1] * 4, type_)
        spread = emit.add(cut).result
    weight = op.ins[1] if tuple(kernel) == (1, 1) else reverse(emit, op.ins[1], [1, 2])
    return [_direct_convolution(op, emit, spread, weight, (1, 1), (1, 1))]


def _spread(
    emit: Emitter,
    source: SSAValue,
    value: int,
    shape: Sequence[int],
    offsets: Sequence[int],
    strides: Sequence[int],
) -> SSAValue:
    """The elements of `source` at every stride of a tensor of `value`."""
    background = filled(emit, value, element(source), shape)
    if not any(offsets) and tuple(shape) == shape_of(source):
        return source
    insert = tensor.InsertSliceOp.get(
        source, background, shape_of(source), list(offsets), list(strides)
    )
    return emit.add(insert).result
