"""Command lists with loops, branches and sizes that a call decides, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime import execution
from ingot.runtime.hal import Device
from ingot.targets.bundle import model as m

from .conftest import axpy_dispatch, loaded, make_bundle, tensor, whole
from .kernels import axpy

ARG, RES, TMP = m.BufferKind.ARGUMENT, m.BufferKind.RESULT, m.BufferKind.TRANSIENT
R0, R1 = m.Register(0), m.Register(1)
N = 8
X, Y, OUT = whole(ARG, 0, 4 * N), whole(TMP, 0, 4 * N), whole(RES, 0, 4 * N)
ADD_X = (axpy_dispatch(N, 1.0, X, Y, OUT), m.Barrier(), m.Copy(OUT, Y))
"""The result is what lies in the arena plus x, and is put there."""


def program_of(device: Device, body: tuple[m.Command, ...], *arguments: m.TensorType):
    of = tensor(m.DType.F32, N)
    function = m.Function("main", (of, *arguments), (of,))
    zero = m.Fill(Y, b"\0"), m.Fill(OUT, b"\0"), m.Barrier()
    made = m.FunctionBody((*zero, *body), 256 + 64, 256, registers=2)
    return loaded(make_bundle({function: made}, (axpy(),))).bind(device)


@pytest.mark.parametrize("count", [-1, 0, 1, 7, 20])
@pytest.mark.parametrize("most", [1, 10, 2048])
def test_a_loop_runs_as_often_as_it_says(
    device: Device, count: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "MOST_UNROLLED", most)
    program = program_of(device, (m.Loop(count, ADD_X),))
    x = np.arange(N, dtype=np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(program.main(x), x * max(0, count))


def test_loops_nest(device: Device) -> None:
    program = program_of(device, (m.Loop(3, (m.Loop(4, ADD_X), *ADD_X)),))
    x = np.ones(N, np.float32)
    np.testing.assert_array_equal(program.main(x), x * 15)


@pytest.mark.parametrize("count", [0, 1, 16, 37])
def test_a_count_may_come_from_the_device(device: Device, count: int) -> None:
    load = m.Load(R0, whole(ARG, 1, 4))
    program = program_of(device, (load, m.Loop(R0, ADD_X)), tensor(m.DType.I32))
    x = np.ones(N, np.float32)
    np.testing.assert_array_equal(program.main(x, np.int32(count)), x * count)


@pytest.mark.parametrize("flag", [False, True])
def test_a_branch_asks_the_device(device: Device, flag: bool) -> None:
    body = (m.Load(R0, whole(ARG, 1, 1)), m.If(R0, ADD_X, (m.Loop(2, ADD_X),)))
    program = program_of(device, body, tensor(m.DType.I1))
    x = np.ones(N, np.float32)
    np.testing.assert_array_equal(program.main(x, np.bool_(flag)), x * (1 if flag else 2))


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_a_while_loop_stops_when_the_device_says(device: Device, turns: int) -> None:
    """The flags are shifted by one element a turn."""
    flags, other = whole(TMP, 0, 32, 256), whole(TMP, 0, 32, 288)
    shift = (
        m.Copy(whole(TMP, 0, 28, 260), whole(TMP, 0, 28, 288)),
        m.Barrier(),
        m.Copy(whole(TMP, 0, 28, 288), whole(TMP, 0, 28, 256)),
    )
    loop = m.While((m.Load(R1, whole(TMP, 0, 4, 256)),), R1, (*ADD_X, *shift))
    body = (m.Copy(whole(ARG, 1, 32), flags), m.Fill(other, b"\0"), loop)
    program = program_of(device, body, tensor(m.DType.I32, 8))
    x = np.ones(N, np.float32)
    given = (np.arange(8) < turns).astype(np.int32)
    for _ in range(2):
        np.testing.assert_array_equal(program.main(x, given), x * turns)


def doubled(device: Device) -> rt.Program:
    """main(x: ?xf32, y: ?xf32) gives x and the number of its elements; sizes must be equal."""
    of = tensor(m.DType.F32, -1)
    function = m.Function("main", (of, of), (of, tensor(m.DType.I32)))
    length, arena, equal = R0, R1, m.Register(2)
    staged = m.BufferRef(TMP, 0, 0, length)
    body = m.FunctionBody(
        commands=(
            m.Copy(m.BufferRef(ARG, 0, 0, length), staged),
            m.Store(whole(RES, 1, 4), m.Register(3)),
            m.Barrier(),
            m.Copy(staged, m.BufferRef(RES, 0, 0, length)),
        ),
        registers=5,
        setup=(
            m.Size(m.Register(3), 0, 0),
            m.Size(m.Register(4), 1, 0),
            m.Compute(equal, m.Operation.EQUAL, m.Register(3), m.Register(4)),
            m.Check(equal, "x and y must have equal sizes"),
            m.Compute(length, m.Operation.MULTIPLY, m.Register(3), 4),
            m.Compute(arena, m.Operation.ADD, length, 256),
        ),
        transient=arena,
        result_sizes=(m.Register(3),),
    )
    return loaded(make_bundle({function: body})).bind(device)


def test_one_bundle_serves_any_size(device: Device) -> None:
    program = doubled(device)
    for size in (3, 1000, 0, 3, *range(40)):
        x = np.random.default_rng(size).standard_normal(size, np.float32)
        same, count = program.main(x, x)
        np.testing.assert_array_equal(same, x)
        assert count == size


def test_a_failed_check_names_the_shapes(device: Device) -> None:
    zeros = np.zeros(4, np.float32)
    message = r"main': x and y must have equal sizes \(it was given 4xf32, 3xf32\)"
    with pytest.raises(rt.ArgumentError, match=message):
        doubled(device).main(zeros, zeros[:3])
    with pytest.raises(rt.ArgumentError, match=r"expected \?xf32 \(float32\), got shape 2x2"):
        doubled(device).main(zeros.reshape(2, 2), zeros)


@pytest.mark.parametrize(
    ("operation", "lhs", "rhs", "value"),
    [
        (m.Operation.DIVIDE, -7, 2, -4),
        (m.Operation.DIVIDE, 7, 0, 0),
        (m.Operation.REMAINDER, -7, 3, 2),
        (m.Operation.REMAINDER, 7, 0, 0),
        (m.Operation.MULTIPLY, 2**62, 4, 0),
        (m.Operation.ADD, 2**63 - 1, 1, -(2**63)),
        (m.Operation.LESS, -1, 0, 1),
        (m.Operation.EQUAL, 3, 3, 1),
        (m.Operation.MINIMUM, -1, 0, -1),
        (m.Operation.MAXIMUM, -1, 0, 0),
        (m.Operation.SUBTRACT, 1, 3, -2),
    ],
)
def test_arithmetic_of_the_host_program(
    operation: m.Operation, lhs: int, rhs: int, value: int
) -> None:
    from ingot.runtime.setup import call_shapes

    body = m.FunctionBody((), registers=1, setup=(m.Compute(R0, operation, lhs, rhs),))
    assert call_shapes(m.Function("f", (), ()), body, ()).registers == (value,)
