"""Gradients held against central differences in float64, and on devices against float64."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import numpy as np

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.gradient import gradient_text
from ingot.compiler.driver.opt import OptOptions, run_opt
from ingot.compiler.driver.options import CompileOptions, Differentiate
from ingot.compiler.driver.pipelines import gradient_pipeline
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.bundle.writer import write_bundle
from ingot.targets.profiles import PROFILES
from support.harness import Array, bundle_for, device, rt

STEP = 1e-5
"""Of central differences, whose error is of its fourth power; short, so that the greatest element
stays the greatest."""


def gradient_of(
    text: str, wrt: Sequence[str] = (), with_value: bool = False, forward: bool = False
) -> str:
    """The program that `ingot grad --emit mlir` writes."""
    asked = Differentiate(tuple(wrt), with_value=with_value, forward=forward)
    return gradient_text(text, "test.mlir", CompileOptions(targets=(), differentiate=asked))


def generics_of(text: str) -> str:
    """A program of any dialect as the differentiation finds it."""
    asked = CompileOptions(targets=(), differentiate=Differentiate())
    passes = gradient_pipeline(asked, PROFILES["metal:apple7"]).partition(",linalg-diff")[0]
    result = run_opt(text, "test.mlir", OptOptions(pipeline=passes))
    assert not result.refused
    return "".join(result.outputs)


def evaluated(text: str, inputs: Sequence[Array]) -> list[Array]:
    """The values of `@main` in float64."""
    return evaluate(read_module(text, "test.mlir", make_context()), "main", inputs, "float64")


def central_differences(
    text: str, inputs: Sequence[Array], cotangents: Sequence[Array], argument: int
) -> Array:
    """The gradient of sum(cotangent * result) by one argument, one element after another."""
    module = read_module(text, "test.mlir", make_context())

    def total(array: Array) -> float:
        given = [array if i == argument else v for i, v in enumerate(inputs)]
        results = [r for r in evaluate(module, "main", given, "float64") if r.dtype.kind == "f"]
        return sum(float(np.sum(c * r)) for c, r in zip(cotangents, results, strict=True))

    gradient = np.zeros(inputs[argument].shape)
    for place in np.ndindex(gradient.shape):
        values: list[float] = []
        for steps in (-2, -1, 1, 2):
            moved = inputs[argument].astype(np.float64)
            moved[place] += steps * STEP
            values.append(total(moved))
        gradient[place] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * STEP)
    return gradient


def check_gradient(
    text: str,
    inputs: Sequence[Array],
    wrt: Sequence[int],
    devices: Sequence[str] = (),
    orders: int = 0,
    rtol: float = 2e-5,
    seed: int = 0,
) -> list[Array]:
    """Hold the gradient program of `@main` against central differences, and devices against it.

    On `host` also in `orders` random orders of threads, with the same bits in each. Returns the
    gradients in float64.
    """
    rng = np.random.default_rng(seed)
    names = [str(i) for i in wrt]
    results = [r for r in evaluated(text, inputs) if r.dtype.kind == "f"]
    cotangents = [rng.standard_normal(r.shape).astype(np.float32) for r in results]
    gradient = gradient_of(text, names)
    found = evaluated(gradient, [*inputs, *cotangents])
    for argument, array in zip(wrt, found, strict=True):
        expected = central_differences(text, inputs, cotangents, argument)
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        np.testing.assert_allclose(array, expected, rtol=1e-6, atol=1e-6 * scale)
    given = [*inputs, *cotangents]
    for name in devices:
        check_on_device(gradient, given, found, name, orders, rtol)
    return found


def check_on_device(
    gradient: str,
    inputs: Sequence[Array],
    expected: Sequence[Array],
    device_name: str,
    orders: int = 0,
    rtol: float = 2e-5,
) -> None:
    """Run a gradient program in f32: close to float64, the same bits in any order of threads."""
    opened = device(device_name)
    loaded = rt.loads(write_bundle(bundle_for(gradient, device_name)))

    def run(where: object) -> list[Array]:
        result = loaded.bind(where).call("main", *inputs)
        return list(result) if isinstance(result, tuple) else [result]

    got = run(opened)
    for array, want in zip(got, expected, strict=True):
        scale = max(1e-3, float(np.max(np.abs(want), initial=0.0)))
        np.testing.assert_allclose(array.astype(np.float64), want, rtol=rtol, atol=rtol * scale)
    for order in range(orders if device_name == "host" else 0):
        with closing(rt.open_device(f"host:random:{order + 1}")) as in_order:
            for array, again in zip(got, run(in_order), strict=True):
                np.testing.assert_array_equal(array, again, "another order of threads")


def directional_errors(
    text: str, gradient: str, inputs: Sequence[Array], function: str = "main", seed: int = 0
) -> tuple[float, float]:
    """The derivative of sum(cotangent * result) along one random direction of all float inputs:
    by the gradient program, and by central differences."""
    rng = np.random.default_rng(seed)
    module = read_module(text, "test.mlir", make_context())
    results = evaluate(module, function, inputs, "float64")
    cotangents = [rng.standard_normal(r.shape) for r in results if r.dtype.kind == "f"]
    is_float = [v.dtype.kind not in "biu" for v in inputs]
    given = [v.astype(np.float64) if f else v for v, f in zip(inputs, is_float, strict=True)]
    directions = [None if v.dtype.kind in "biu" else rng.standard_normal(v.shape) for v in inputs]
    found = evaluate(
        read_module(gradient, "gradient.mlir", make_context()),
        function,
        [*given, *cotangents],
        "float64",
    )
    along = [d for d in directions if d is not None]
    by_program = sum(float(np.sum(g * d)) for g, d in zip(found, along, strict=True))

    def total(step: float) -> float:
        moved = [v if d is None else v + step * d for v, d in zip(given, directions, strict=True)]
        values = evaluate(module, function, moved, "float64")
        floats = [v for v in values if v.dtype.kind == "f"]
        return sum(float(np.sum(c * v)) for c, v in zip(cotangents, floats, strict=True))

    h = 1e-7
    by_differences = (total(-2 * h) - 8 * total(-h) + 8 * total(h) - total(2 * h)) / (12 * h)
    return by_program, by_differences


def assert_agree(text: str, gradient: str, inputs: Sequence[Array]) -> None:
    """Hold a gradient program against differences in one direction, in float64."""
    by_program, by_differences = directional_errors(text, gradient, inputs)
    assert abs(by_program - by_differences) <= 1e-4 * max(1.0, abs(by_differences))
