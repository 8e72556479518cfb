"""TOSA's operators after the pseudo-code of its specification: plain loops, Python integers.

Written to be compared with what the compiler makes, so nothing here is shared with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def low_of(dtype: Any) -> int:
    """The least value of an integer type."""
    return int(np.iinfo(dtype).min)


def high_of(dtype: Any) -> int:
    """The greatest value of an integer type."""
    return int(np.iinfo(dtype).max)


def wrap(value: int, dtype: Any) -> int:
    """`value` modulo the size of a signed type."""
    width = np.dtype(dtype).itemsize * 8
    return (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))


def apply_scale(value: int, multiplier: int, shift: int, double_round: bool) -> int:
    """apply_scale_32 and apply_scale_16."""
    rounding = 1 << (shift - 1)
    if double_round and shift > 31:
        rounding += (1 << 30) if value >= 0 else -(1 << 30)
    return (value * multiplier + rounding) >> shift


def rescale(
    x: Array,
    multipliers: Sequence[int],
    shifts: Sequence[int],
    input_zp: int,
    output_zp: int,
    out: Any,
    *,
    double_round: bool = False,
    per_channel: bool = False,
    input_unsigned: bool = False,
    output_unsigned: bool = False,
) -> Array:
    """RESCALE; `out` is the signed type of the result."""
    result = np.zeros(x.shape, out)
    bits_in, bits_out = x.dtype.itemsize * 8, np.dtype(out).itemsize * 8
    low, high = (0, (1 << bits_out) - 1) if output_unsigned else (low_of(out), high_of(out))
    for index in np.ndindex(x.shape):
        value = int(x[index])
        if input_unsigned:
            value %= 1 << bits_in
        channel = index[-1] if per_channel else 0
        scaled = apply_scale(value - input_zp, multipliers[channel], shifts[channel], double_round)
        result[index] = wrap(max(low, min(high, scaled + output_zp)), out)
    return result


def reciprocal_scale(count: int) -> tuple[int, int]:
    """The multiplier and shift that divide by a count."""
    k = 0
    while (1 << k) < count:
        k += 1
    return (((1 << 30) + 1) << k) // count, 30 + k


def padded_read(x: Array, n: int, position: Sequence[int], channel: int) -> Any:
    """The element at a position, or None outside of the input."""
    inside = all(0 <= p < s for p, s in zip(position, x.shape[1:-1], strict=True))
    return x[(n, *position, channel)] if inside else None


def convolution(
    x: Array,
    weight: Array,
    bias: Array,
    zero_points: tuple[int, int],
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    acc: Any,
) -> Array:
    """CONV2D and CONV3D."""
    spatial = x.ndim - 2
    kernel = weight.shape[1:-1]
    out = [
        (x.shape[1 + d] + pad[2 * d] + pad[2 * d + 1] - (kernel[d] - 1) * dilation[d] - 1)
        // stride[d]
        + 1
        for d in range(spatial)
    ]
    result = np.zeros((x.shape[0], *out, weight.shape[0]), acc)
    for index in np.ndindex(result.shape):
        n, *at, channel = index
        total: Any = 0
        for offset in np.ndindex(kernel):
            position = [
                at[d] * stride[d] - pad[2 * d] + offset[d] * dilation[d] for d in range(spatial)
            ]
            for ic in range(x.shape[-1]):
                value = padded_read(x, n, position, ic)
                if value is not None:
                    factor = weight[(channel, *offset, ic)]
                    total += _minus(value, zero_points[0]) * _minus(factor, zero_points[1])
        result[index] = total + _plain(bias[channel if len(bias) > 1 else 0])
    return result


def _plain(value: Any) -> Any:
    """A NumPy scalar as a Python number, so that nothing overflows."""
    return value.item() if hasattr(value, "item") else value


def _minus(value: Any, zero_point: int) -> Any:
    return _plain(value) - zero_point


def depthwise(
    x: Array,
    weight: Array,
    bias: Array,
    zero_points: tuple[int, int],
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    acc: Any,
) -> Array:
    """DEPTHWISE_CONV2D."""
    kh, kw, channels, multiplier = weight.shape
    out = [
        (x.shape[1 + d] + pad[2 * d] + pad[2 * d + 1] - ((kh, kw)[d] - 1) * dilation[d] - 1)
        // stride[d]
        + 1
        for d in range(2)
    ]
    result = np.zeros((x.shape[0], *out, channels * multiplier), acc)
    for n, oy, ox, c, m in np.ndindex(x.shape[0], *out, channels, multiplier):
        total: Any = 0
        for ky, kx in np.ndindex(kh, kw):
            y = oy * stride[0] - pad[0] + ky * dilation[0]
            value = padded_read(x, n, (y, ox * stride[1] - pad[2] + kx * dilation[1]), c)
            if value is not None:
                factor = weight[ky, kx, c, m]
                total += _minus(value, zero_points[0]) * _minus(factor, zero_points[1])
        result[n, oy, ox, c * multiplier + m] = total + _plain(bias[c * multiplier + m])
    return result


def transpose_convolution(
    x: Array,
    weight: Array,
    bias: Array,
    zero_points: tuple[int, int],
    out_pad: Sequence[int],
    stride: Sequence[int],
    acc: Any,
) -> Array:
    """TRANSPOSE_CONV2D: every input is added where its window lies."""
    n, height, width, _ = x.shape
    channels, kh, kw, _ = weight.shape
    oh = (height - 1) * stride[0] + out_pad[0] + out_pad[1] + kh
    ow = (width - 1) * stride[1] + out_pad[2] + out_pad[3] + kw
    total = np.zeros((n, oh, ow, channels), object if acc != np.float32 else np.float64)
    total[...] = [_plain(b) for b in bias]
    for b, iy, ix, ky, kx in np.ndindex(n, height, width, kh, kw):
        oy, ox = iy * stride[0] + out_pad[0] + ky, ix * stride[1] + out_pad[2] + kx
        if 0 <= oy < oh and 0 <= ox < ow:
            for oc, ic in np.ndindex(channels, x.shape[-1]):
                value = _minus(x[b, iy, ix, ic], zero_points[0])
                total[b, oy, ox, oc] += value * _minus(weight[oc, ky, kx, ic], zero_points[1])
    return total.astype(acc)


def windows(x: Array, kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int]) -> Any:
    """Of each output position of a pooling the elements that lie inside."""
    n, height, width, channels = x.shape
    oh = (height + pad[0] + pad[1] - kernel[0]) // stride[0] + 1
    ow = (width + pad[2] + pad[3] - kernel[1]) // stride[1] + 1
    for index in np.ndindex(n, oh, ow, channels):
        b, oy, ox, c = index
        read = [
            padded_read(x, b, (oy * stride[0] - pad[0] + ky, ox * stride[1] - pad[2] + kx), c)
            for ky, kx in np.ndindex(*kernel)
        ]
        yield (n, oh, ow, channels), index, [value for value in read if value is not None]


def avg_pool(
    x: Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[int],
    zero_points: tuple[int, int] = (0, 0),
) -> Array:
    """AVG_POOL2D."""
    result: Array | None = None
    for shape, index, values in windows(x, kernel, stride, pad):
        if result is None:
            result = np.zeros(shape, x.dtype)
        if x.dtype.kind == "f":
            result[index] = np.float64(np.sum(np.array(values, np.float64))) / len(values)
            continue
        total = sum(int(value) - zero_points[0] for value in values)
        multiplier, shift = reciprocal_scale(len(values))
        scaled = apply_scale(total, multiplier, shift, False) + zero_points[1]
        result[index] = max(low_of(x.dtype), min(high_of(x.dtype), scaled))
    assert result is not None
    return result


def extremum(values: Sequence[Any], *, largest: bool, ignore_nan: bool = False) -> Any:
    """apply_max_s and apply_min_s over all values."""
    is_nan = [value != value for value in values]
    if any(is_nan):
        if not ignore_nan or all(is_nan):
            return float("nan")
        values = [value for value in values if value == value]
    return max(values) if largest else min(values)


def max_pool(
    x: Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[int],
    ignore_nan: bool = False,
) -> Array:
    """MAX_POOL2D."""
    result: Array | None = None
    for shape, index, values in windows(x, kernel, stride, pad):
        if result is None:
            result = np.zeros(shape, x.dtype)
        result[index] = extremum(values, largest=True, ignore_nan=ignore_nan)
    assert result is not None
    return result


def argmax(x: Array, axis: int, ignore_nan: bool = False) -> Array:
    """ARGMAX: the first greatest, or the first NaN."""
    moved = np.moveaxis(x, axis, -1)
    result = np.zeros(moved.shape[:-1], np.int32)
    for index in np.ndindex(result.shape):
        row = [v.item() for v in moved[index]]
        numbers = [i for i, v in enumerate(row) if v == v]
        nans = [i for i, v in enumerate(row) if v != v]
        if nans and not ignore_nan:
            result[index] = nans[0]
        elif numbers:
            result[index] = max(numbers, key=lambda i: (row[i], -i))
    return result


def resize(
    x: Array,
    scale: Sequence[int],
    offset: Sequence[int],
    border: Sequence[int],
    mode: str,
    out: Any,
) -> Array:
    """RESIZE."""
    n, height, width, channels = x.shape
    yn, yd, xn, xd = scale
    oh = ((height - 1) * yn - offset[0] + border[0]) // yd + 1
    ow = ((width - 1) * xn - offset[1] + border[1]) // xd + 1
    result = np.zeros((n, oh, ow, channels), out)
    is_float = np.dtype(out).kind == "f"
    for b, oy, ox, c in np.ndindex(result.shape):
        y, px = oy * yd + offset[0], ox * xd + offset[1]
        iy, ix = y // yn, px // xn
        dy: Any = y - iy * yn
        dx: Any = px - ix * xn
        iy0, iy1 = max(iy, 0), min(iy + 1, height - 1)
        ix0, ix1 = max(ix, 0), min(ix + 1, width - 1)
        if mode == "NEAREST_NEIGHBOR":
            row = iy1 if 2 * dy >= yn else iy0
            column = ix1 if 2 * dx >= xn else ix0
            result[b, oy, ox, c] = x[b, row, column, c]
            continue
        whole_y, whole_x = yn, xn
        if is_float:
            dy, dx, whole_y, whole_x = dy / yn, dx / xn, 1, 1
        v00, v01, v10, v11 = (
            _plain(x[b, r, s, c]) for r, s in itertools.product((iy0, iy1), (ix0, ix1))
        )
        result[b, oy, ox, c] = (
            v00 * (whole_y - dy) * (whole_x - dx)
            + v01 * (whole_y - dy) * dx
            + v10 * dy * (whole_x - dx)
            + v11 * dy * dx
        )
    return result


def table(x: Array, entries: Array) -> Array:
    """TABLE, of i8 and of i16."""
    if x.dtype == np.int8:
        return np.array([entries[int(v) + 128] for v in x.flat], entries.dtype).reshape(x.shape)
    result = np.zeros(x.shape, np.int32)
    for index in np.ndindex(x.shape):
        value = int(x[index])
        position, fraction = (value >> 7) + 256, value & 127
        base, following = int(entries[position]), int(entries[position + 1])
        result[index] = (base << 7) + (following - base) * fraction
    return result


def cast(x: Array, out: Any) -> Array:
    """CAST; floats round to the nearest even integer, saturate, and NaN becomes 0."""
    if out == np.bool_:
        return x != 0
    if np.dtype(out).kind in "fV" or x.dtype.kind not in "fV":
        return x.astype(out)
    result = np.zeros(x.shape, out)
    for index in np.ndindex(x.shape):
        value = float(x[index])
        if value != value:
            continue
        if abs(value) == float("inf"):
            result[index] = high_of(out) if value > 0 else low_of(out)
        else:
            result[index] = max(low_of(out), min(high_of(out), round(value)))
    return result


def scatter(values: Array, indices: Array, source: Array) -> Array:
    """SCATTER."""
    result = values.copy()
    for n, w in np.ndindex(indices.shape):
        result[n, indices[n, w]] = source[n, w]
    return result


def gather(values: Array, indices: Array) -> Array:
    """GATHER."""
    return np.stack([values[n, indices[n]] for n in range(len(values))])
