"""The usual kernels on shapes nobody chose, on both devices, against the reference evaluator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import kernels
from support.harness import DEVICES, assert_close, bundle_for, device, rt

from ingot.compiler.driver.verify_values import reference_results
from ingot.targets.bundle.writer import write_bundle
from ingot.tools.bundle_text import spell

SIZES = (1, 3, 17, 31, 33, 63, 65, 127, 1000, 4097)
MOST = 600_000
"""Elements of one tensor: larger ones only cost time."""

size = st.sampled_from(SIZES)


def shapes(rank: int, most: int = MOST) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[size] * rank).filter(lambda s: prod(s) <= most)


any_shape = st.integers(1, 4).flatmap(shapes)


@st.composite
def shape_and_kept(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int]]:
    shape = draw(any_shape)
    kept = [d for d in range(len(shape)) if draw(st.booleans())]
    return shape, kept


@st.composite
def shape_and_permutation(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int]]:
    shape = draw(st.integers(2, 4).flatmap(shapes))
    return shape, draw(st.permutations(range(len(shape))))


KINDS: dict[str, tuple[Callable[..., str], st.SearchStrategy[tuple[object, ...]]]] = {
    "elementwise": (kernels.elementwise, st.tuples(any_shape)),
    "broadcast": (kernels.broadcast, shape_and_kept()),
    "sum": (kernels.reduction, shape_and_kept()),
    "max": (
        lambda shape, kept: kernels.reduction(shape, kept, "maximumf"),
        shape_and_kept(),
    ),
    "transpose": (kernels.transpose, shape_and_permutation()),
    "matmul": (kernels.matmul, shapes(3, 3_000_000)),
    "batch_matmul": (kernels.batch_matmul, shapes(4, 3_000_000)),
    "softmax": (kernels.softmax, shapes(2)),
    "layer_norm": (kernels.layer_norm, shapes(2)),
}


def check(text: str, device_name: str) -> None:
    opened = device(device_name)
    bundle = bundle_for(text, device_name)
    (function,) = bundle.functions
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(t.shape).astype(np.float32) for t in function.arguments]
    result = rt.loads(write_bundle(bundle)).bind(opened).call("main", *inputs)
    (expected,) = reference_results(text, "test.mlir", "main", inputs)
    assert isinstance(result, np.ndarray)
    assert_close(result, expected.astype(np.float32), ", ".join(map(spell, function.arguments)))


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_any_shape(kind: str, device_name: str) -> None:
    _search(kind, device_name, examples=5)


@pytest.mark.slow
@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_many_shapes(kind: str, device_name: str) -> None:
    _search(kind, device_name, examples=60)


def _search(kind: str, device_name: str, examples: int) -> None:
    make, parameters = KINDS[kind]

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(parameters)
    def search(values: Sequence[object]) -> None:
        check(make(*values), device_name)

    search()
