"""A random program: up to twelve steps, each of which writes an op or a few."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from fuzz import indexed, movement, named, structured
from fuzz.builder import OPEN_SIZES, Builder
from fuzz.values import FLOATS, Program, Shape, Spread, Value

Array = NDArray[Any]
Step = Callable[[Builder], None]

STEPS: tuple[tuple[Step, float], ...] = (
    (structured.elementwise, 8),
    (structured.reduction, 6),
    (structured.contraction, 3),
    (structured.argmax, 1),
    (structured.fold, 0.5),
    (structured.window, 2),
    (movement.collapse, 1),
    (movement.expand, 1),
    (movement.extract_slice, 1),
    (movement.pad, 1),
    (movement.concat, 1),
    (movement.insert_slice, 1),
    (movement.transpose, 1),
    (movement.broadcast, 1),
    (movement.reverse, 1),
    (movement.generate, 1),
    (movement.constant, 1),
    (movement.extract, 1),
    (movement.diagonal_copy, 1),
    (named.unary, 1),
    (named.binary, 1),
    (named.product, 2),
    (named.reduce, 1),
    (named.softmax, 1),
    (named.layer_norm, 1),
    (indexed.gather, 1),
    (indexed.scatter, 1),
    (indexed.moved_slice, 1),
    (indexed.insert, 1),
    (indexed.sort, 0.5),
    (indexed.scan, 1),
    (indexed.pack, 1),
    (indexed.bitcast, 0.5),
    (indexed.convolution, 1),
)
"""What a program is made of, and how often."""
OPEN_STEPS: tuple[tuple[Step, float], ...] = (
    (structured.elementwise, 8),
    (structured.reduction, 4),
    (structured.contraction, 2),
    (structured.argmax, 1),
    (movement.transpose, 1),
    (movement.broadcast, 1),
    (movement.diagonal_copy, 1),
    (named.unary, 1),
    (named.binary, 1),
    (named.product, 2),
    (named.reduce, 1),
    (named.layer_norm, 1),
)
"""The steps of a program with open sizes: those that make no sizes of their own."""


def random_program(random: Random, most: int = 12) -> Program:
    """A program of a few steps; the same one for the same state of `random`."""
    opened = OPEN_SIZES if random.random() < 0.12 else ()
    builder = Builder(random, random.random() < 0.1, opened)
    steps, weights = zip(*(OPEN_STEPS if opened else STEPS), strict=True)
    for _ in range(random.randint(1, most)):
        if len(builder.ops) > 3 * most:
            break
        random.choices(steps, weights)[0](builder)
    if not builder.values:
        structured.elementwise(builder)
    return builder.program()


def random_inputs(program: Program, seed: int) -> list[Array]:
    """Arrays for the arguments: floats on a grid of quarters, integers of every size."""
    rng = np.random.default_rng(seed)
    return [_input(value, rng, program.special) for value in program.arguments]


def _on_grid(spread: Spread, rng: np.random.Generator, shape: Shape) -> Array:
    """About 32 different values within the spread, all on its grid."""
    step = spread.grid or 0.25
    while step and spread.bound / step > 16.0:
        step *= 2.0
    most = int(spread.bound / step) if step else 0
    return np.asarray(rng.integers(-most, most + 1, shape) * step, np.float32)


def _input(value: Value, rng: np.random.Generator, special: bool) -> Array:
    shape = value.shape
    if value.dtype in FLOATS:
        dtype = np.dtype(
            {"f32": np.float32, "f16": np.float16}.get(value.dtype, ml_dtypes.bfloat16)
        )
        array = _on_grid(value.spread, rng, shape)
        if special:
            kinds = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
            array = np.where(
                rng.random(shape) < 0.1, kinds[rng.integers(0, len(kinds), shape)], array
            )
        return np.asarray(array).astype(dtype)
    if value.dtype == "i1":
        return np.asarray(rng.random(shape) < 0.5)
    if value.dtype == "i4":
        return np.asarray(rng.integers(-8, 8, shape)).astype(ml_dtypes.int4)
    dtype = np.dtype(
        {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}[value.dtype]
    )
    limits = np.iinfo(dtype)
    anything = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    small = rng.integers(-9, 10, shape).astype(dtype)
    edges = np.array([0, 1, -1, limits.min, limits.max], dtype)[rng.integers(0, 5, shape)]
    kind = rng.random(shape)
    return np.asarray(np.where(kind < 0.5, small, np.where(kind < 0.85, anything, edges)), dtype)
