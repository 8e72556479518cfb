"""More cases for `tosa_cases.CASES`: layout, products, poolings, quantized ops, transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from support import tosa_spec as spec
from support.tosa_cases import (
    CASES,
    F32,
    I8,
    I16,
    I32,
    Array,
    Build,
    Case,
    Program,
    Source,
    tensor,
)


def ints(numbers: Sequence[int], width: int = 64) -> str:
    """`array<i64: ...>`."""
    return f"array<i{width}: {', '.join(map(str, numbers))}>"


def constants(program: Program, *arrays: Array) -> list[tuple[str, str]]:
    """Operands that are `tosa.const`."""
    return [(program.constant(a), tensor(a)) for a in arrays]


def arguments(program: Program, *arrays: Array) -> list[tuple[str, str]]:
    """Operands that are arguments."""
    return [(program.argument(a), tensor(a)) for a in arrays]


# Layout


def _reshape(source: Source) -> Case:
    a, b, c = source.shape(3)
    x = source.values((a, b, c), F32)
    to = [(a * b, c), (a, b * c), (c, b, a), (1, a * b * c), (a, 1, b, c)][source.pick(0, 4)]
    program = Program()
    operands = [*arguments(program, x), program.sizes(to)]
    return program.op("reshape", operands, [x.reshape(to)])


def _transpose(source: Source) -> Case:
    x = source.values(source.shape(4), I8)
    order = list(source.rng.permutation(4))
    program = Program()
    expected = np.ascontiguousarray(x.transpose(order))
    return program.op("transpose", arguments(program, x), [expected], f"perms = {ints(order, 32)}")


def _reverse(source: Source) -> Case:
    x = source.values(source.shape(3), I16)
    axis = source.pick(0, 2)
    program = Program()
    return program.op(
        "reverse", arguments(program, x), [np.flip(x, axis).copy()], f"axis = {axis} : i32"
    )


def _slice(source: Source) -> Case:
    x = source.values(source.shape(3, 7), F32)
    start = [source.pick(0, s - 1) for s in x.shape]
    size = [source.pick(1, s - b) for s, b in zip(x.shape, start, strict=True)]
    expected = x[tuple(slice(b, b + s) for b, s in zip(start, size, strict=True))].copy()
    program = Program()
    operands = [*arguments(program, x), program.sizes(start), program.sizes(size)]
    return program.op("slice", operands, [expected])


def _tile(source: Source) -> Case:
    x = source.values(source.shape(3, 4), I32)
    times = [source.pick(1, 3) for _ in range(3)]
    program = Program()
    operands = [*arguments(program, x), program.sizes(times)]
    return program.op("tile", operands, [np.tile(x, times)])


def _concat(source: Source) -> Case:
    shape, axis = source.shape(3), source.pick(0, 2)
    parts = [
        source.values([source.pick(1, 4) if d == axis else s for d, s in enumerate(shape)], F32)
        for _ in range(source.pick(1, 4))
    ]
    program = Program()
    return program.op(
        "concat",
        arguments(program, *parts),
        [np.concatenate(parts, axis)],
        f"axis = {axis} : i32",
    )


def _pad(dtype: Any) -> Build:
    def build(source: Source) -> Case:
        x = source.values(source.shape(3), dtype)
        amounts = [(source.pick(0, 2), source.pick(0, 2)) for _ in range(3)]
        value = np.array([7], dtype)
        program = Program()
        flat = [number for pair in amounts for number in pair]
        operands = [*arguments(program, x), program.sizes(flat), *constants(program, value)]
        return program.op("pad", operands, [np.pad(x, amounts, constant_values=value[0])])

    return build


def _gather(source: Source) -> Case:
    n, k, w, c = source.shape(4)
    values = source.values((n, k, c), F32)
    indices = source.rng.integers(0, k, (n, w)).astype(I32)
    program = Program()
    return program.op("gather", arguments(program, values, indices), [spec.gather(values, indices)])


def _scatter(source: Source) -> Case:
    n, k, _, c = source.shape(4)
    w = source.pick(1, k)
    values, update = source.values((n, k, c), F32), source.values((n, w, c), F32)
    indices = np.stack([source.rng.permutation(k)[:w] for _ in range(n)]).astype(I32)
    program = Program()
    expected = spec.scatter(values, indices, update)
    return program.op("scatter", arguments(program, values, indices, update), [expected])


# Products


def _weights(source: Source, shape: Sequence[int], dtype: Any) -> Array:
    """Values whose sums of products stay exact: all of i8, floats of a few bits."""
    if np.dtype(dtype).kind == "i":
        return source.values(shape, dtype)
    return source.rng.integers(-8, 8, shape).astype(dtype)


ACCUMULATORS: dict[Any, Any] = {F32: F32, I8: I32, I16: np.int64, np.float16: np.float16}


def _zeros(source: Source, dtype: Any) -> tuple[int, int]:
    return (source.pick(-20, 20), source.pick(-5, 5)) if dtype == I8 else (0, 0)


def _convolution(name: str, spatial: int, dtype: Any) -> Build:
    def build(source: Source) -> Case:
        kernel = [source.pick(1, 3) for _ in range(spatial)]
        stride = [source.pick(1, 2) for _ in range(spatial)]
        dilation = [source.pick(1, 2) for _ in range(spatial)]
        pad = [source.pick(0, 1) for _ in range(2 * spatial)]
        size: list[int] = []
        for d in range(spatial):
            reach = (kernel[d] - 1) * dilation[d] + 1
            size.append(max(1, reach - pad[2 * d] - pad[2 * d + 1]) + source.pick(0, 4))
        channels, outputs = source.pick(1, 3), source.pick(1, 4)
        acc = ACCUMULATORS[dtype]
        zero_points = _zeros(source, dtype)
        x = _weights(source, (source.pick(1, 2), *size, channels), dtype)
        if name == "depthwise_conv2d":
            weight = _weights(source, (*kernel, channels, outputs), dtype)
            bias = _weights(source, (channels * outputs,), acc)
            bias = (bias // 4).astype(acc)
            expected = spec.depthwise(x, weight, bias, zero_points, pad, stride, dilation, acc)
        else:
            weight = _weights(source, (outputs, *kernel, channels), dtype)
            bias = (_weights(source, (outputs,), acc) // 4).astype(acc)
            expected = spec.convolution(x, weight, bias, zero_points, pad, stride, dilation, acc)
        program = Program()
        operands = [
            *arguments(program, x, weight, bias),
            *constants(program, *(np.array([z], dtype) for z in zero_points)),
        ]
        attributes = (
            f"acc_type = {tensor(expected).rstrip('>').split('x')[-1]}, pad = {ints(pad)}, "
            f"stride = {ints(stride)}, dilation = {ints(dilation)}"
        )
        return program.op(name, operands, [expected], attributes)

    return build


def _transpose_convolution(dtype: Any) -> Build:
    def build(source: Source) -> Case:
        kernel = [source.pick(1, 3), source.pick(1, 3)]
        stride = [source.pick(1, 3), source.pick(1, 3)]
        out_pad = [source.pick(1 - k, 2) for k in kernel for _ in range(2)]
        size = [source.pick(1, 4) for _ in range(2)]
        for d in range(2):
            while (size[d] - 1) * stride[d] + out_pad[2 * d] + out_pad[2 * d + 1] + kernel[d] < 1:
                size[d] += 1
        acc = ACCUMULATORS[dtype]
        zero_points = _zeros(source, dtype)
        x = _weights(source, (1, *size, source.pick(1, 3)), dtype)
        weight = _weights(source, (source.pick(1, 3), *kernel, x.shape[-1]), dtype)
        bias = (_weights(source, (weight.shape[0],), acc) // 4).astype(acc)
        expected = spec.transpose_convolution(x, weight, bias, zero_points, out_pad, stride, acc)
        program = Program()
        operands = [
            *arguments(program, x, weight, bias),
            *constants(program, *(np.array([z], dtype) for z in zero_points)),
        ]
        attributes = (
            f"acc_type = {'f32' if dtype == F32 else 'i32'}, out_pad = {ints(out_pad)}, "
            f"stride = {ints(stride)}"
        )
        return program.op("transpose_conv2d", operands, [expected], attributes)

    return build


def _matmul(dtype: Any, out: Any) -> Build:
    def build(source: Source) -> Case:
        n, h, c, w = source.shape(4)
        a, b = _weights(source, (n, h, c), dtype), _weights(source, (n, c, w), dtype)
        zero_points = _zeros(source, dtype)
        wide = np.float64 if np.dtype(dtype).kind == "f" else np.int64
        expected = ((a.astype(wide) - zero_points[0]) @ (b.astype(wide) - zero_points[1])).astype(
            out
        )
        program = Program()
        operands = [
            *arguments(program, a, b),
            *constants(program, *(np.array([z], dtype) for z in zero_points)),
        ]
        return program.op("matmul", operands, [expected])

    return build


def _fully_connected(source: Source) -> Case:
    n, i, o = source.shape(3)
    x, weight = _weights(source, (n, i), I8), _weights(source, (o, i), I8)
    bias = (_weights(source, (o,), I32) // 4).astype(I32)
    zero_points = _zeros(source, I8)
    wide = (x.astype(np.int64) - zero_points[0]) @ (weight.astype(np.int64) - zero_points[1]).T
    program = Program()
    operands = [
        *arguments(program, x, weight, bias),
        *constants(program, *(np.array([z], I8) for z in zero_points)),
    ]
    return program.op("fully_connected", operands, [(wide + bias).astype(I32)])


# Poolings


def _pooling(name: str, dtype: Any, ignore: bool = False) -> Build:
    def build(source: Source) -> Case:
        kernel = [source.pick(1, 3), source.pick(1, 3)]
        stride = [source.pick(1, 2), source.pick(1, 2)]
        pad = [source.pick(0, k - 1) for k in kernel for _ in range(2)]
        size = [
            max(1, kernel[d] - pad[2 * d] - pad[2 * d + 1]) + source.pick(0, 4) for d in range(2)
        ]
        average = name == "avg_pool2d"
        x = source.values((1, *size, source.pick(1, 3)), dtype, special=not average)
        program = Program()
        operands = arguments(program, x)
        attributes = f"kernel = {ints(kernel)}, stride = {ints(stride)}, pad = {ints(pad)}"
        if not average:
            expected = spec.max_pool(x, kernel, stride, pad, ignore)
            attributes += ", nan_mode = IGNORE" if ignore else ""
            return program.op(name, operands, [expected], attributes)
        zero_points = _zeros(source, dtype)
        expected = spec.avg_pool(x, kernel, stride, pad, zero_points)
        operands += constants(program, *(np.array([z], dtype) for z in zero_points))
        attributes += f", acc_type = {'f32' if dtype == F32 else 'i32'}"
        return program.op(name, operands, [expected], attributes)

    return build


# Quantized


def _rescale(x_type: Any, out: Any, **options: bool) -> Build:
    scale32 = not options.pop("scale16", False)

    def build(source: Source) -> Case:
        x = source.values(source.shape(3), x_type)
        per_channel = options.get("per_channel", False)
        count = x.shape[-1] if per_channel else 1
        widest = 31 if scale32 else 15
        multipliers = [source.pick(1 << (widest - 1), (1 << widest) - 1) for _ in range(count)]
        # The result must fit i32, as the specification requires.
        shifts = [source.pick(widest, 62 if scale32 else 40) for _ in range(count)]
        in_unsigned = options.get("input_unsigned", False)
        out_unsigned = options.get("output_unsigned", False)
        input_zp = source.pick(0, 200) if in_unsigned else source.pick(-100, 100)
        output_zp = source.pick(0, 200) if out_unsigned else source.pick(-100, 100)
        if x_type not in (I8,):
            input_zp = 0
        if out not in (I8,):
            output_zp = 0
        expected = spec.rescale(x, multipliers, shifts, input_zp, output_zp, out, **options)
        program = Program()
        operands = [
            *arguments(program, x),
            *constants(
                program,
                np.array(multipliers, I32 if scale32 else I16),
                np.array(shifts, I8),
                np.array([spec.wrap(input_zp, x_type)], x_type),
                np.array([spec.wrap(output_zp, out)], out),
            ),
        ]
        mode = "DOUBLE_ROUND" if options.get("double_round") else "SINGLE_ROUND"
        attributes = (
            f"rounding_mode = {mode}, scale32 = {str(scale32).lower()}, "
            f"per_channel = {str(per_channel).lower()}, "
            f"input_unsigned = {str(in_unsigned).lower()}, "
            f"output_unsigned = {str(out_unsigned).lower()}"
        )
        return program.op("rescale", operands, [expected], attributes)

    return build


def _apply_scale(source: Source) -> Case:
    shape = source.shape(2)
    value = source.values(shape, I32)
    multiplier = source.rng.integers(1 << 30, (1 << 31) - 1, shape).astype(I32)
    shift = source.rng.integers(31, 62, shape).astype(I8)
    expected = np.zeros(shape, I32)
    for i in np.ndindex(shape):
        expected[i] = spec.apply_scale(int(value[i]), int(multiplier[i]), int(shift[i]), True)
    program = Program()
    return program.op(
        "apply_scale",
        arguments(program, value, multiplier, shift),
        [expected],
        "rounding_mode = DOUBLE_ROUND",
    )


def _table(dtype: Any) -> Build:
    def build(source: Source) -> Case:
        x = source.values(source.shape(2, 9), dtype)
        entries = source.values((256 if dtype == I8 else 513,), dtype)
        if dtype == I16:
            # Neighbours differ by what 16 bits hold.
            entries = (entries // 2).astype(I16)
        program = Program()
        return program.op(
            "table",
            [*arguments(program, x), *constants(program, entries)],
            [spec.table(x, entries)],
        )

    return build


def _resize(mode: str, dtype: Any, out: Any) -> Build:
    def build(source: Source) -> Case:
        size = [source.pick(1, 5), source.pick(1, 5)]
        scale: list[int] = []
        offset: list[int] = []
        border: list[int] = []
        for extent in size:
            numerator, denominator = source.pick(1, 6), source.pick(1, 4)
            start = source.pick(-numerator, numerator - 1)
            room = (extent - 1) * numerator - start
            # TOSA wants the border below the numerator, so that no position is past the end.
            last = max(0, (room + numerator - 1) // denominator - source.pick(0, 1))
            border.append(last * denominator - room)
            scale += [numerator, denominator]
            offset.append(start)
        x = source.values((1, *size, source.pick(1, 3)), dtype)
        expected = spec.resize(x, scale, offset, border, mode, out)
        program = Program()
        operands = [
            *arguments(program, x),
            program.sizes(scale),
            program.sizes(offset),
            program.sizes(border),
        ]
        return program.op("resize", operands, [expected], f"mode = {mode}")

    return build


# Transforms


def _fft2d(inverse: bool) -> Build:
    def build(source: Source) -> Case:
        shape = (source.pick(1, 2), 1 << source.pick(0, 3), 1 << source.pick(0, 3))
        real, imaginary = source.values(shape, F32), source.values(shape, F32)
        value = real.astype(np.complex128) + 1j * imaginary
        result = np.fft.fft2(value)
        if inverse:
            result = np.fft.ifft2(value) * (shape[1] * shape[2])
        program = Program()
        return program.op(
            "fft2d",
            arguments(program, real, imaginary),
            [result.real.astype(F32), result.imag.astype(F32)],
            f"inverse = {str(inverse).lower()}",
        )

    return build


def _rfft2d(source: Source) -> Case:
    shape = (source.pick(1, 2), 1 << source.pick(0, 3), 1 << source.pick(0, 3))
    x = source.values(shape, F32)
    result = np.fft.rfft2(x.astype(np.float64))
    program = Program()
    return program.op(
        "rfft2d", arguments(program, x), [result.real.astype(F32), result.imag.astype(F32)]
    )


CASES |= {
    "reshape": _reshape,
    "transpose": _transpose,
    "reverse": _reverse,
    "slice": _slice,
    "tile": _tile,
    "concat": _concat,
    "pad-f32": _pad(F32),
    "pad-i8": _pad(I8),
    "gather": _gather,
    "scatter": _scatter,
    "conv2d-f32": _convolution("conv2d", 2, F32),
    "conv2d-i8": _convolution("conv2d", 2, I8),
    "conv2d-f16": _convolution("conv2d", 2, np.float16),
    "conv3d-f32": _convolution("conv3d", 3, F32),
    "conv3d-i8": _convolution("conv3d", 3, I8),
    "depthwise_conv2d-f32": _convolution("depthwise_conv2d", 2, F32),
    "depthwise_conv2d-i8": _convolution("depthwise_conv2d", 2, I8),
    "transpose_conv2d-f32": _transpose_convolution(F32),
    "transpose_conv2d-i8": _transpose_convolution(I8),
    "matmul-f32": _matmul(F32, F32),
    "matmul-f16": _matmul(np.float16, F32),
    "matmul-i8": _matmul(I8, I32),
    "fully_connected-i8": _fully_connected,
    "avg_pool2d-f32": _pooling("avg_pool2d", F32),
    "avg_pool2d-i8": _pooling("avg_pool2d", I8),
    "avg_pool2d-i16": _pooling("avg_pool2d", I16),
    "max_pool2d-f32": _pooling("max_pool2d", F32),
    "max_pool2d-ignore": _pooling("max_pool2d", F32, ignore=True),
    "max_pool2d-i8": _pooling("max_pool2d", I8),
    "rescale-i32-i8": _rescale(I32, I8),
    "rescale-i32-i8-double": _rescale(I32, I8, double_round=True, per_channel=True),
    "rescale-i32-i16": _rescale(I32, I16, double_round=True),
    "rescale-i8-i8": _rescale(I8, I8, double_round=True),
    "rescale-i8-i32": _rescale(I8, I32),
    "rescale-i8-i16-scale16": _rescale(I8, I16, scale16=True),
    "rescale-i32-i8-scale16": _rescale(I32, I8, scale16=True, per_channel=True),
    "rescale-u8-i8": _rescale(I8, I8, input_unsigned=True),
    "rescale-i8-u8": _rescale(I8, I8, output_unsigned=True),
    "rescale-u8-u8": _rescale(I8, I8, input_unsigned=True, output_unsigned=True),
    "rescale-i32-u8": _rescale(I32, I8, output_unsigned=True, double_round=True),
    "apply_scale": _apply_scale,
    "table-i8": _table(I8),
    "table-i16": _table(I16),
    "resize-nearest-f32": _resize("NEAREST_NEIGHBOR", F32, F32),
    "resize-nearest-i8": _resize("NEAREST_NEIGHBOR", I8, I8),
    "resize-bilinear-f32": _resize("BILINEAR", F32, F32),
    "resize-bilinear-i8": _resize("BILINEAR", I8, I32),
    "resize-bilinear-f16": _resize("BILINEAR", np.float16, np.float16),
    "fft2d": _fft2d(False),
    "fft2d-inverse": _fft2d(True),
    "rfft2d": _rfft2d,
}
