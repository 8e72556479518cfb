"""A bundle with one of everything."""

from __future__ import annotations

import pytest

from ingot.targets.bundle import model as m

SPIRV = b"\x03\x02\x23\x07" + bytes(20)


def ref(kind: m.BufferKind, index: int, offset: int, length: int) -> m.BufferRef:
    return m.BufferRef(kind, index, offset, length)


R0, R1 = m.Register(0), m.Register(1)


def control_flow() -> tuple[m.Command, ...]:
    """One of each command that decides what runs."""
    flag = ref(m.BufferKind.TRANSIENT, 0, 0, 1)
    fill = m.Fill(ref(m.BufferKind.TRANSIENT, 0, 64, 4), b"\x00")
    return (
        m.Load(R0, flag),
        m.If(R0, (fill,), (m.Loop(3, (fill, m.Loop(R1, (fill,)))),)),
        m.While((m.Load(R0, flag),), R0, (fill, m.Barrier())),
        m.Store(ref(m.BufferKind.TRANSIENT, 0, 32, 4), R1),
    )


def dynamic_body() -> m.FunctionBody:
    """Copies an argument of as many bytes as it has, doubled for no reason in between."""
    return m.FunctionBody(
        commands=(
            m.Copy(
                m.BufferRef(m.BufferKind.ARGUMENT, 0, 0, R0),
                m.BufferRef(m.BufferKind.RESULT, 0, 0, R0),
            ),
        ),
        registers=2,
        setup=(
            m.Size(R0, 0, 0),
            m.Compute(R1, m.Operation.MULTIPLY, R0, 2),
            m.Check(R0, "argument 0 is empty"),
        ),
        transient=R1,
        result_sizes=(R0,),
    )


def make_sample() -> m.Bundle:
    f32x4 = m.TensorType(m.DType.F32, (4,))
    bytes_ = m.TensorType(m.DType.I8, (-1,))
    kernel = m.Kernel(
        name="add",
        entry_point="add_",
        threadgroup_size=(64, 2, 1),
        bindings=(
            m.Binding("x", m.DType.F32, m.Access.READ),
            m.Binding("y", m.DType.F32, m.Access.READ_WRITE),
        ),
        spirv=SPIRV,
        msl="kernel void add_() {} // é",
        metallibs=(m.Metallib("macosx", b"MTLB"), m.Metallib("iphoneos", b"MTLB2")),
        spirv_entry_point="add",
        push_constant_size=4,
        argument_buffer=True,
        threadgroup_memory=256,
        location="a.mlir:1:2",
    )
    body = m.FunctionBody(
        commands=(
            m.Fill(ref(m.BufferKind.TRANSIENT, 0, 0, 16), b"\x00\x01"),
            m.Barrier(),
            m.Dispatch(
                0,
                (3, 1, 65535),
                (ref(m.BufferKind.ARGUMENT, 0, 0, 16), ref(m.BufferKind.TRANSIENT, 0, 64, 16)),
                b"abcd",
            ),
            m.Barrier(),
            m.Copy(ref(m.BufferKind.CONSTANT, 0, 4, 8), ref(m.BufferKind.RESULT, 0, 8, 8)),
            *control_flow(),
        ),
        transient_size=128,
        transient_lower_bound=96,
        registers=2,
    )
    variant = m.Variant(
        target="metal:apple7",
        api="metal",
        family=7,
        simd_width=32,
        math_mode="safe",
        msl_version=(3, 1),
        kernels=(kernel,),
        bodies=(body, m.FunctionBody(()), dynamic_body()),
        required_features=("float16", "int64"),
    )
    return m.Bundle(
        functions=(
            m.Function("main", (f32x4,), (m.TensorType(m.DType.F32, (2, 2)),), ("x",), ("y",)),
            m.Function("nothing", (), (m.TensorType(m.DType.BF16, (0, 3)),)),
            m.Function("sized", (bytes_,), (bytes_,)),
        ),
        constants=(
            m.Constant("w", m.TensorType(m.DType.F32, (3,)), bytes(range(12))),
            m.Constant("empty", m.TensorType(m.DType.F32, (0,)), b""),
            m.Constant("nibbles", m.TensorType(m.DType.I4, (3,)), b"ab"),
        ),
        variants=(variant,),
        provenance=m.Provenance("0.1.0", "a,b{c=1}", "1.3.239", "sha256:00"),
    )


@pytest.fixture
def sample() -> m.Bundle:
    return make_sample()
