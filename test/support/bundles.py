"""Small bundles of every kind: compiled ones, and one by hand that has every command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.bundle import model as m
from ingot.targets.bundle.weights import save_bundle
from ingot.targets.bundle.writer import write_bundle

PROGRAMS = {
    "loop": """
        func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %ten = arith.constant 10 : index
          %r = scf.for %i = %zero to %ten step %one iter_args(%v = %x) -> (tensor<8xf32>) {
            %n = arith.addf %v, %v : tensor<8xf32>
            scf.yield %n : tensor<8xf32>
          }
          return %r : tensor<8xf32>
        }""",
    "while": """
        func.func @main(%x: tensor<f32>) -> tensor<f32> {
          %limit = arith.constant 100.0 : f32
          %r = scf.while (%v = %x) : (tensor<f32>) -> tensor<f32> {
            %e = tensor.extract %v[] : tensor<f32>
            %c = arith.cmpf olt, %e, %limit : f32
            scf.condition(%c) %v : tensor<f32>
          } do {
          ^bb0(%v: tensor<f32>):
            %n = arith.addf %v, %v : tensor<f32>
            scf.yield %n : tensor<f32>
          }
          return %r : tensor<f32>
        }""",
    "open": """
        func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
          %r = arith.mulf %x, %y : tensor<?x3xf32>
          return %r : tensor<?x3xf32>
        }""",
    "constant": """
        func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2x2xf32>) {
          %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
          %m = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
          %r = arith.addf %x, %c : tensor<3xf32>
          return %r, %m : tensor<3xf32>, tensor<2x2xf32>
        }""",
}

_SPIRV = bytes.fromhex("0302230700000100000000000500000000000000")
"""The header of a module that has nothing else."""


@cache
def compiled(name: str) -> bytes:
    """One of `PROGRAMS`, for Metal and for Vulkan."""
    options = CompileOptions(targets=("metal:apple7", "vulkan:generic"))
    return write_bundle(compile_module(PROGRAMS[name], "test.mlir", options))


def _ref(kind: m.BufferKind, index: int, length: m.Operand, offset: m.Operand = 0) -> m.BufferRef:
    return m.BufferRef(kind, index, offset, length)


def every_command() -> m.Bundle:
    """A program that computes nothing, of every kind of command, setup, operand and buffer."""
    argument, result, constant, transient = m.BufferKind
    rows, bytes_, again, turns = (m.Register(i) for i in range(4))
    f32 = m.DType.F32
    main = m.Function(
        "main",
        (m.TensorType(f32, (-1, 3)), m.TensorType(f32, (4,))),
        (m.TensorType(f32, (-1, 3)), m.TensorType(m.DType.I8, (5,))),
        ("x", "y"),
        ("z", ""),
    )
    kernel = m.Kernel(
        "add_.1",
        "add_1",
        (4, 2, 1),
        tuple(m.Binding(a.name.lower(), f32, a) for a in m.Access),
        spirv=_SPIRV,
        msl="kernel void add_1() {}",
        metallibs=(m.Metallib("macosx", b"MTLB"),),
        spirv_entry_point="main",
        push_constant_size=4,
        location="a.mlir:1:2",
    )
    dispatch = m.Dispatch(
        0,
        (rows, 2, 1),
        (_ref(argument, 0, bytes_), _ref(result, 0, bytes_), _ref(transient, 0, 16, bytes_)),
        b"\1\0\0\0",
    )
    load = m.Load(again, _ref(transient, 0, 1))
    body = m.FunctionBody(
        commands=(
            m.Fill(_ref(transient, 0, 7, 1), b"\1\2"),
            m.Copy(_ref(constant, 0, 12), _ref(result, 0, 12)),
            m.Barrier(),
            m.Store(_ref(transient, 0, 4, 8), rows),
            m.Loop(3, (dispatch, m.Barrier())),
            m.Load(turns, _ref(argument, 1, 4, 4)),
            m.Loop(turns, (m.Fill(_ref(result, 1, 5), b"\3"),)),
            m.While((load,), again, (dispatch, m.If(rows, (m.Barrier(),), ()))),
            m.If(again, (dispatch,), (m.Fill(_ref(result, 1, 1), b"\1\2\3\4"),)),
        ),
        transient_lower_bound=16,
        registers=5,
        setup=(
            m.Size(rows, 0, 0),
            m.Compute(bytes_, m.Operation.MULTIPLY, rows, 12),
            m.Compute(m.Register(4), m.Operation.ADD, bytes_, 64),
            m.Check(m.Register(4), "there are no rows"),
        ),
        transient=m.Register(4),
        result_sizes=(rows,),
    )
    data = np.arange(3, dtype=np.float32).tobytes()
    variants = tuple(
        m.Variant(f"{api}:test", api, 0, 0, "safe", version, (kernel,), (body,), features)
        for api, version, features in (("metal", (3, 1), ()), ("vulkan", (0, 0), ("int16",)))
    )
    provenance = m.Provenance("1", "p", "s", "h")
    return m.Bundle(
        (main,), (m.Constant("c", m.TensorType(f32, (3,)), data),), variants, provenance
    )


def _variants(body: m.FunctionBody) -> tuple[m.Variant, ...]:
    """One for any Metal device and one for any Vulkan device, without kernels."""
    return tuple(
        m.Variant(f"{api}:test", api, 0, 0, "safe", (0, 0), (), (body,))
        for api in ("metal", "vulkan")
    )


def with_weights() -> tuple[bytes, bytes]:
    """A bundle with two constants in a file beside it, `w.safetensors`, and that file."""
    constants = tuple(
        m.Constant(name, m.TensorType(m.DType.F32, (32, 32)), bytes([value]) * 4096)
        for name, value in (("é", 1), ("b", 2))
    )
    f32 = m.TensorType(m.DType.F32, (32, 32))
    whole = _ref(m.BufferKind.RESULT, 0, 4096)
    body = m.FunctionBody((m.Copy(_ref(m.BufferKind.CONSTANT, 0, 4096), whole),))
    main = m.Function("main", (), (f32,))
    bundle = m.Bundle((main,), constants, _variants(body), m.Provenance("", "", "", ""))
    with TemporaryDirectory() as name:
        folder = Path(name)
        save_bundle(bundle, folder / "a.ingot", folder / "w.safetensors")
        return (folder / "a.ingot").read_bytes(), (folder / "w.safetensors").read_bytes()


def tiny_weights() -> tuple[bytes, bytes]:
    """The same with a weight of four bytes, so that a fuzzer's inputs are small."""
    data = b"\0\1\2\3"
    weight = m.Weight("w.safetensors", "k", sha256(data).digest())
    constant = m.Constant("k", m.TensorType(m.DType.I8, (4,)), b"", weight)
    body = m.FunctionBody(
        (m.Copy(_ref(m.BufferKind.CONSTANT, 0, 4), _ref(m.BufferKind.RESULT, 0, 4)),)
    )
    main = m.Function("main", (), (m.TensorType(m.DType.I8, (4,)),))
    bundle = m.Bundle((main,), (constant,), _variants(body), m.Provenance("", "", "", ""))
    text = b'{"__metadata__":{"a":"\\u00e9"},"k":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}}'
    return write_bundle(bundle), len(text).to_bytes(8, "little") + text + data


def call_of_main(
    bundle: bytes, inputs: Sequence[NDArray[Any]], capacities: Sequence[int], folder: Path
) -> tuple[list[str], list[Path]]:
    """The words by which `run_bundle.c` calls `main`, and the files that it writes results to."""
    path = folder / "program.ingot"
    path.write_bytes(bundle)
    words = [str(path), "main"]
    for position, value in enumerate(inputs):
        file = folder / f"in{position}"
        file.write_bytes(np.ascontiguousarray(value).tobytes())
        words.append(f"{'x'.join(map(str, value.shape))}={file}")
    outputs = [folder / f"out{position}" for position in range(len(capacities))]
    given = [f"{size}={file}" for size, file in zip(capacities, outputs, strict=True)]
    return [*words, "--", *given], outputs


def small_bundles() -> Iterator[tuple[str, bytes, bytes]]:
    """Name, bundle and weights of each."""
    yield "every_command", write_bundle(every_command()), b""
    yield "weights", *tiny_weights()
    for name in PROGRAMS:
        yield name, compiled(name), b""
