"""Plans compute the right values whatever order their barriers allow, run here command by command.

The commands between two barriers run backwards, and what has not been written yet is garbage: a
barrier that is missing, or two values that share memory while both live, give wrong values.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.control_flow import ADD_I32, PROGRAMS
from xdsl.dialects.builtin import IntAttr, ModuleOp
from xdsl.ir import Region

from ingot.compiler.analysis.constants import constant_array, numpy_dtype
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.dialects import plan
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.pass_pipeline import parse_pipeline
from ingot.compiler.driver.pipelines import STAGES
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.profiles import PROFILES

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class Machine:
    """Executes a plan on byte arrays; kernels are evaluated by the reference evaluator."""

    def __init__(self, module: ModuleOp, inputs: Sequence[np.ndarray[Any, Any]]) -> None:
        (self.program,) = plan.programs(module)
        self.module = module
        self.kernels = {k.sym_name.data: k for k in module.ops if hasattr(k, "function_type")}
        garbage = np.random.default_rng(1)
        outputs = [as_tensor_type(t) for t in self.program.function_type.outputs]
        self.storage: dict[tuple[str, int], Bytes] = {
            ("transient", 0): garbage.integers(
                0, 255, self.program.transient_size.value.data, np.uint8
            )
        }
        for i, value in enumerate(inputs):
            self.storage["argument", i] = np.frombuffer(value.tobytes(), np.uint8).copy()
        for i, constant in enumerate(plan.constants(module)):
            data = constant_array(constant.value, constant.type).tobytes()
            self.storage["constant", i] = np.frombuffer(data, np.uint8).copy()
        self.types = [(numpy_dtype(t.element_type), t.get_shape()) for t in outputs if t]
        for i, (dtype, shape) in enumerate(self.types):
            size = dtype.itemsize * prod(shape)
            self.storage["result", i] = garbage.integers(0, 255, size, np.uint8)

    def run(self) -> list[np.ndarray[Any, Any]]:
        self._region(self.program.body)
        return [
            self.storage["result", i].view(dtype).reshape(shape)
            for i, (dtype, shape) in enumerate(self.types)
        ]

    def _bytes(self, range_: plan.RangeAttr) -> Bytes:
        assert isinstance(range_.offset, IntAttr) and isinstance(range_.length, IntAttr)
        start = range_.offset.data
        return self.storage[range_.place][start : start + range_.length.data]

    def _number(self, range_: plan.RangeAttr) -> int:
        return int.from_bytes(self._bytes(range_).tobytes(), "little")

    def _region(self, region: Region) -> None:
        group: list[plan.CommandOp] = []

        def flush() -> None:
            for command in reversed(group):
                self._simple(command)
            group.clear()

        for op in plan.commands_of(region):
            match op:
                case plan.BarrierOp():
                    flush()
                case plan.LoopOp():
                    flush()
                    times = op.times.value.data if op.times is not None else None
                    assert times is not None or op.count is not None
                    for _ in range(self._number(op.count) if op.count else times or 0):
                        self._region(op.body)
                case plan.WhileOp():
                    flush()
                    self._region(op.condition)
                    while self._number(op.proceed):
                        self._region(op.body)
                        self._region(op.condition)
                case plan.IfOp():
                    flush()
                    self._region(op.then if self._number(op.condition) else op.otherwise)
                case _:
                    group.append(op)
        flush()

    def _simple(self, op: plan.CommandOp) -> None:
        match op:
            case plan.DispatchOp():
                kernel = self.kernels[op.kernel_name]
                types = [as_tensor_type(t) for t in kernel.function_type.inputs]
                inputs = [
                    self._bytes(r).copy().view(numpy_dtype(t.element_type)).reshape(t.get_shape())
                    for r, t in zip(op.reads(), types, strict=True)
                    if t is not None
                ]
                results = evaluate(self.module, op.kernel_name, inputs)
                for range_, result in zip(op.writes(), results, strict=True):
                    self._bytes(range_)[:] = np.frombuffer(result.tobytes(), np.uint8)
            case plan.FillOp():
                target = self._bytes(op.target)
                pattern = np.frombuffer(op.pattern.data, np.uint8)
                target[:] = np.tile(pattern, len(target) // len(pattern))
            case plan.CopyOp():
                self._bytes(op.target)[:] = self._bytes(op.source).copy()
            case _:
                raise AssertionError(op)


def check(text: str, inputs: Sequence[np.ndarray[Any, Any]]) -> None:
    context = make_context()
    module = read_module(text, "program.mlir", context)
    expected = evaluate(module, "f", inputs)
    options, profile = CompileOptions(targets=("vulkan:generic",)), PROFILES["vulkan:generic"]
    for stage in STAGES[:2]:
        for spec in parse_pipeline(stage.pipeline(options, profile)):
            spec.apply(context, module)
    for result, reference in zip(Machine(module, inputs).run(), expected, strict=True):
        np.testing.assert_array_equal(result, reference)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    text, inputs = PROGRAMS[name]
    check(text.replace("5000", "50"), [np.asarray(value) for value in inputs])


T = "tensor<4xi32>"


@st.composite
def bodies(draw: st.DrawFn, values: list[str], depth: int, counter: list[int]) -> list[str]:
    """Lines that make new values from `values`, which grows; loops and branches among them."""
    lines: list[str] = []

    def name() -> str:
        counter[0] += 1
        return f"%v{counter[0]}"

    def some(count: int) -> list[str]:
        return draw(st.lists(st.sampled_from(values), min_size=count, max_size=count))

    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["add", "for", "if", "while"] if depth else ["add"]))
        new = name()
        if kind == "add":
            a, b = some(2)
            lines.append(f"{new} = func.call @add({a}, {b}) : ({T}, {T}) -> {T}")
            values.append(new)
            continue
        count = draw(st.integers(1, 3))
        types = ", ".join([T] * count)
        initial = some(count)
        arguments = [name() for _ in range(count)]
        results = [f"{new}#{i}" for i in range(count)]
        if kind == "for":
            inner = [*values, *arguments]
            body = draw(bodies(inner, depth - 1, counter))
            yielded = draw(st.lists(st.sampled_from(inner), min_size=count, max_size=count))
            pairs = ", ".join(f"{a} = {i}" for a, i in zip(arguments, initial, strict=True))
            times = draw(st.sampled_from(["%c0", "%c1", "%c3"]))
            lines += [
                f"{new}:{count} = scf.for %i{new[1:]} = %c0 to {times} step %c1 "
                f"iter_args({pairs}) -> ({types}) {{",
                *body,
                f"scf.yield {', '.join(yielded)} : {types}",
                "}",
            ]
        elif kind == "if":
            sides: list[list[str]] = []
            for _ in range(2):
                inner = list(values)
                body = draw(bodies(inner, depth - 1, counter))
                yielded = draw(st.lists(st.sampled_from(inner), min_size=count, max_size=count))
                sides.append([*body, f"scf.yield {', '.join(yielded)} : {types}"])
            condition = name()
            lines += [
                f"{condition} = tensor.extract %p[] : tensor<i1>",
                f"{new}:{count} = scf.if {condition} -> ({types}) {{",
                *sides[0],
                "} else {",
                *sides[1],
                "}",
            ]
        else:
            times, at, next_, go = name(), name(), name(), name()
            before = [*values, *arguments]
            first = draw(bodies(before, depth - 1, counter))
            passed = draw(st.lists(st.sampled_from(before), min_size=count, max_size=count))
            received = [name() for _ in range(count)]
            inner = [*values, *received]
            body = draw(bodies(inner, depth - 1, counter))
            yielded = draw(st.lists(st.sampled_from(inner), min_size=count, max_size=count))
            pairs = ", ".join(f"{a} = {i}" for a, i in zip(arguments, initial, strict=True))
            block = ", ".join(f"{r}: {T}" for r in received)
            lines += [
                f"{new}:{count + 1} = scf.while ({pairs}, {times} = %zero) : ({types}, i32) -> "
                f"({types}, i32) {{",
                *first,
                f"{go} = arith.cmpi slt, {times}, %two : i32",
                f"scf.condition({go}) {', '.join(passed)}, {times} : {types}, i32",
                "} do {",
                f"^bb0({block}, {at}: i32):",
                *body,
                f"{next_} = arith.addi {at}, %one : i32",
                f"scf.yield {', '.join(yielded)}, {next_} : {types}, i32",
                "}",
            ]
        values.extend(results)
    return lines


@st.composite
def programs(draw: st.DrawFn) -> str:
    values = ["%x", "%y"]
    lines = draw(bodies(values, 2, [0]))
    count = draw(st.integers(1, 3))
    returned = draw(st.lists(st.sampled_from(values), min_size=count, max_size=count))
    types = ", ".join([T] * count)
    return "\n".join(
        [
            f"func.func @f(%p: tensor<i1>, %x: {T}, %y: {T}) -> ({types}) {{",
            *(f"%c{i} = arith.constant {i} : index" for i in (0, 1, 3)),
            *(f"%{n} = arith.constant {i} : i32" for i, n in enumerate(("zero", "one", "two"))),
            *lines,
            f"return {', '.join(returned)} : {types}",
            "}",
            ADD_I32,
        ]
    )


@given(programs(), st.booleans())
@settings(max_examples=25, deadline=None)
def test_random_control_flow(text: str, flag: bool) -> None:
    x, y = np.array([1, -2, 3, 4], np.int32), np.array([5, 7, -11, 13], np.int32)
    check(text, [np.asarray(flag), x, y])
