"""Schedules as data: what `--schedule FILE` reads and `--print-schedule` writes.

    {"schedules": [
      {"target": "metal:apple7",
       "kernel": "row (64x1000xf32) -> (64x1000xf32) #4f0c2a9b81d3",
       "schedule": {"kind": "row", "threadgroup": [1], "thread": [1], "threads": 256, "vector": 4,
                    "unroll": 8}}]}

A kernel is known by what it computes, not by its name: its kind, the types of its inputs and
results, and a digest of its ops. So a file holds for every program with the same kernel.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from io import StringIO
from typing import Any, cast, get_args

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.printer import Printer

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.kernel_shape import (
    describe_kernel,
    is_kernel,
    kernel_kind,
    kernel_results,
)
from ingot.compiler.analysis.schedule import Kind, Schedule
from ingot.compiler.analysis.schedule_check import schedule_problem
from ingot.compiler.analysis.structured import element_type, shape_of
from ingot.compiler.driver.diagnostics import CompileError
from ingot.targets.profiles import PROFILES, TargetProfile

SCHEDULE = "ingot.schedule"
_LISTS = ("threadgroup", "thread", "promote", "subgroup", "unit")


@dataclass(frozen=True)
class ScheduleEntry:
    """The schedule of a kernel on a target."""

    target: str
    kernel: str
    """As `kernel_key` spells it."""
    schedule: Schedule


def kernel_key(func: FuncOp) -> str:
    """What an outlined kernel computes, whatever it is called."""
    copy = func.clone()
    copy.attributes.pop("ingot.names", None)
    copy.attributes.pop(SCHEDULE, None)
    for block in (block for region in copy.regions for block in region.blocks):
        for value in block.args:
            value.name_hint = None
    for op in copy.walk():
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            value.name_hint = None
    copy.properties["sym_name"] = type(copy.sym_name)("kernel")
    text = StringIO()
    Printer(text).print_op(copy)
    digest = hashlib.sha256(text.getvalue().encode()).hexdigest()[:12]
    types = f"{_types(func.body.block.args)} -> {_types(kernel_results(func))}"
    return f"{kernel_kind(func)} {types} #{digest}"


def _types(values: Sequence[SSAValue]) -> str:
    spelled = ("x".join(map(str, [*shape_of(v), element_type(v)])) for v in values)
    return f"({', '.join(spelled)})"


def set_schedules(
    module: ModuleOp, profile: TargetProfile, entries: Sequence[ScheduleEntry]
) -> None:
    """Put the schedules on the kernels (L2) that they are for; raises `Refusal`."""
    known = {entry.kernel: entry.schedule for entry in entries if entry.target == profile.name}
    if not known:
        return
    for func in module.ops:
        if not isinstance(func, FuncOp) or not is_kernel(func):
            continue
        schedule = known.get(kernel_key(func))
        if schedule is None:
            continue
        problem = schedule_problem(schedule, describe_kernel(func), profile)
        if problem is not None:
            raise refuse(
                func,
                f"the schedule given for kernel '{func.sym_name.data}' does not fit: {problem}",
                "`--print-schedule` shows one that does",
            )
        func.attributes[SCHEDULE] = schedule.to_attr()


def get_schedules(
    module: ModuleOp, profile: TargetProfile, keys: dict[str, str]
) -> tuple[ScheduleEntry, ...]:
    """The schedules of the kernels of a tiled module, whose keys were taken before (L3)."""
    return tuple(
        ScheduleEntry(
            profile.name,
            keys[func.sym_name.data],
            Schedule.from_attr(func.attributes[SCHEDULE]),
        )
        for func in module.ops
        if isinstance(func, FuncOp) and SCHEDULE in func.attributes and func.sym_name.data in keys
    )


def kernel_keys(module: ModuleOp) -> dict[str, str]:
    """The key of each kernel (L2) by its name."""
    return {
        func.sym_name.data: kernel_key(func)
        for func in module.ops
        if isinstance(func, FuncOp) and is_kernel(func)
    }


def schedules_text(entries: Sequence[ScheduleEntry]) -> str:
    """Schedules as JSON, one to a paragraph; fields at their defaults are left out."""
    parts = [
        f'  {{"target": {json.dumps(entry.target)},\n   "kernel": {json.dumps(entry.kernel)},\n'
        f'   "schedule": {json.dumps(schedule_values(entry.schedule))}}}'
        for entry in entries
    ]
    return '{"schedules": [\n' + ",\n".join(parts) + "\n]}\n"


def schedule_values(schedule: Schedule) -> dict[str, Any]:
    """A schedule as an object of JSON, without the fields that are at their defaults."""
    defaults = {field.name: field.default for field in fields(Schedule)}
    return {name: v for name, v in asdict(schedule).items() if v != defaults[name]}


def read_schedules(text: str, filename: str) -> tuple[ScheduleEntry, ...]:
    """Read what `schedules_text` writes; raises `CompileError` for anything else."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise CompileError(f"this is not JSON: {error.msg} at {where}", None, filename) from None
    if not isinstance(data, dict) or list(cast("dict[str, Any]", data)) != ["schedules"]:
        raise CompileError(
            'a file of schedules is {"schedules": [...]}',
            "`--print-schedule` writes one",
            filename,
        )
    entries: Any = cast("dict[str, Any]", data)["schedules"]
    if not isinstance(entries, list):
        raise CompileError('"schedules" must be a list', None, filename)
    return tuple(
        _Reader(filename, f"schedule {i}").entry(entry)
        for i, entry in enumerate(cast("list[Any]", entries), 1)
    )


@dataclass(frozen=True)
class _Reader:
    """Turns one entry of a file into a `ScheduleEntry`."""

    filename: str
    where: str

    def entry(self, data: Any) -> ScheduleEntry:
        values = self._object(data, {"target", "kernel", "schedule"}, "an entry")
        for name in ("target", "kernel"):
            if not isinstance(values.get(name), str):
                raise self._error(f'"{name}" must be a string')
        target = values["target"]
        if target not in PROFILES:
            raise self._error(f'unknown target "{target}"', f"targets are {', '.join(PROFILES)}")
        return ScheduleEntry(target, values["kernel"], self._schedule(values.get("schedule")))

    def _schedule(self, data: Any) -> Schedule:
        names = {field.name: field for field in fields(Schedule)}
        values = self._object(data, set(names), '"schedule"')
        for name, field in names.items():
            if name not in values:
                if field.default is MISSING:
                    raise self._error(f'"schedule" lacks "{name}"')
            elif name == "kind":
                if values[name] not in get_args(Kind):
                    raise self._error(f'"kind" must be one of {", ".join(get_args(Kind))}')
            elif name in _LISTS:
                values[name] = self._numbers(name, values[name])
            elif not _is_number(values[name]):
                raise self._error(f'"{name}" must be a number that is not negative')
        return Schedule(**values)

    def _numbers(self, name: str, data: Any) -> tuple[int, ...]:
        numbers = cast("list[Any]", data) if isinstance(data, list) else None
        if numbers is None or not all(map(_is_number, numbers)):
            raise self._error(f'"{name}" must be a list of numbers that are not negative')
        return tuple(numbers)

    def _object(self, data: Any, allowed: set[str], what: str) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise self._error(f"{what} must be an object")
        values = dict(cast("dict[str, Any]", data))
        for key in values:
            if key not in allowed:
                raise self._error(
                    f'{what} has an unknown key "{key}"', f"keys are {', '.join(sorted(allowed))}"
                )
        return values

    def _error(self, message: str, hint: str | None = None) -> CompileError:
        return CompileError(f"{self.where}: {message}", hint, self.filename)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
