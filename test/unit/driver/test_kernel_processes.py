"""Many kernels are compiled by several processes, to the same bytes and with the same errors."""

from __future__ import annotations

import os
import pickle
from typing import Any

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver import compile as driver
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.kernel_processes import FEW, process_count, shares
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.timing import Timing
from ingot.targets.bundle.writer import write_bundle

KERNELS = 2 * FEW


def program(last: str = "f32") -> str:
    """A sum of rows of each of many sizes: a kernel each."""
    sizes = range(20, 20 + KERNELS)
    types = ["f32"] * (KERNELS - 1) + [last]
    arguments = [f"%x{n}: tensor<3x{n}x{t}>" for n, t in zip(sizes, types, strict=True)]
    lines: list[str] = []
    for n, t in zip(sizes, types, strict=True):
        lines += [
            f"%z{n} = arith.constant 0.0 : {t}",
            f"%e{n} = tensor.empty() : tensor<3x{t}>",
            f"%i{n} = linalg.fill ins(%z{n} : {t}) outs(%e{n} : tensor<3x{t}>) -> tensor<3x{t}>",
            f"%r{n} = linalg.reduce {{ arith.addf }} ins(%x{n} : tensor<3x{n}x{t}>)"
            f" outs(%i{n} : tensor<3x{t}>) dimensions = [1]",
        ]
    results = ", ".join(f"%r{n}" for n in sizes)
    result_types = ", ".join(f"tensor<3x{t}>" for t in types)
    return (
        f"func.func @main({', '.join(arguments)}) -> ({result_types}) {{\n"
        + "\n".join(lines)
        + f"\nreturn {results} : {result_types}\n}}\n"
    )


def compiled(processes: int, text: str | None = None) -> bytes:
    targets = ("metal:apple7", "vulkan:generic")
    options = CompileOptions(targets=targets, processes=processes)
    return write_bundle(compile_module(text or program(), "sums.mlir", options))


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many processes each target was compiled in."""
    counts: list[int] = []
    compile_in_processes = driver.compile_in_processes

    def counted(module: Any, count: int, rest: Any) -> Any:
        counts.append(count)
        return compile_in_processes(module, count, rest)

    monkeypatch.setattr(driver, "compile_in_processes", counted)
    return counts


def test_the_bytes_are_the_same(forks: list[int]) -> None:
    assert compiled(5) == compiled(1)
    assert forks == [2, 2]


@pytest.mark.parametrize(
    ("module", "name", "error"),
    [(pickle, "dump", MemoryError), (os, "fork", BlockingIOError)],
    ids=["a process that fails", "no process to be had"],
)
def test_what_processes_do_not_compile_one_does(
    monkeypatch: pytest.MonkeyPatch, forks: list[int], module: Any, name: str, error: type[OSError]
) -> None:
    expected = compiled(1)

    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(module, name, broken)
    assert compiled(2) == expected
    assert forks == [2]


def test_what_one_kernel_is_refused_for_is_said(
    monkeypatch: pytest.MonkeyPatch, forks: list[int]
) -> None:
    from ingot.passes.kernel.kernel_bufferize import KernelBufferizePass

    apply = KernelBufferizePass.apply

    def refusing(self: KernelBufferizePass, context: Any, module: Any) -> None:
        apply(self, context, module)
        for op in module.walk():
            if "memref<3x20xf32>" in str(getattr(op, "function_type", "")):
                from ingot.compiler.analysis.diagnostics import refuse

                raise refuse(op, "not this one")

    monkeypatch.setattr(KernelBufferizePass, "apply", refusing)
    for processes in (1, 2):
        with pytest.raises(Refusal, match="not this one"):
            compiled(processes)
    assert forks == [2]


def test_few_kernels_and_what_is_watched_stay_in_one_process() -> None:
    many = CompileOptions(targets=(), processes=8)
    assert process_count(10 * FEW, many) == 8
    assert process_count(2 * FEW, many) == 2
    assert process_count(2 * FEW - 1, many) == 1
    assert process_count(0, many) == 1
    for watched in ({"timing": Timing()}, {"verify_each": True}, {"keep_schedules": True}):
        assert process_count(99, CompileOptions(targets=(), processes=8, **watched)) == 1


def test_shares_are_even_and_complete() -> None:
    parts = shares([1, 3, 1, 3, 1, 1, 1, 1], 3)
    assert sorted(position for part in parts for position in part) == list(range(8))
    assert [sum([1, 3, 1, 3, 1, 1, 1, 1][p] for p in part) for part in parts] == [4, 4, 4]
