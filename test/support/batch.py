"""Many functions in one module: compiled once for a device, each compared with the evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.bundle.model import DType, TensorType
from ingot.targets.bundle.writer import write_bundle
from support.harness import Array, assert_close, bundle_for, device, rt

_INTEGERS = {
    DType.I8: np.int8,
    DType.I16: np.int16,
    DType.I32: np.int32,
    DType.I64: np.int64,
}


def random_input(type_: TensorType, rng: np.random.Generator) -> Array:
    """Values that every function takes: small and positive; integers from 1 to 8."""
    if type_.dtype is DType.I1:
        return rng.integers(0, 2, type_.shape).astype(np.bool_)
    if type_.dtype in _INTEGERS:
        return rng.integers(1, 9, type_.shape).astype(_INTEGERS[type_.dtype])
    floats = rng.random(type_.shape, np.float32) + np.float32(0.125)
    return floats.astype(np.float16) if type_.dtype is DType.F16 else floats


def check_module(
    text: str,
    device_name: str,
    inputs: Mapping[str, Sequence[Array]] | None = None,
    expected: Mapping[str, Sequence[Array]] | None = None,
) -> None:
    """Run every public function of a module; its results are those of the evaluator.

    `inputs` are given by the name of the function, random where they are not; `expected` replaces
    the evaluator. All functions run before the first difference is reported.
    """
    bundle = bundle_for(text, device_name)
    loaded = rt.loads(write_bundle(bundle)).bind(device(device_name))
    module = read_module(text, "test.mlir", make_context())
    rng = np.random.default_rng(0)
    wrong: list[str] = []
    for function in bundle.functions:
        name = function.name
        given = (inputs or {}).get(name)
        if given is None:
            given = [random_input(type_, rng) for type_ in function.arguments]
        wanted = (expected or {}).get(name)
        if wanted is None:
            wanted = evaluate(module, name, given)
        called = loaded.call(name, *given)
        results = list(called) if isinstance(called, tuple) else [called]
        assert len(results) == len(wanted), name
        for index, (got, want) in enumerate(zip(results, wanted, strict=True)):
            try:
                assert_close(got, want.reshape(got.shape), f"result {index} of {name}")
            except AssertionError as difference:
                wrong.append(str(difference))
    assert not wrong, "\n".join(wrong)
