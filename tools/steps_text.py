"""The steps of a host program as lines of text, from their description."""

from __future__ import annotations

from typing import Any, cast

Json = dict[str, Any]


def step_lines(steps: list[Json]) -> list[str]:
    """One line a step; the steps inside of loops and branches follow, indented."""
    return [line for step in steps for line in _lines(step)]


def _lines(step: Json) -> list[str]:
    inner: list[str] = []
    operands: list[str] = []
    for key, value in step.items():
        if key in ("kind", "kernel"):
            continue
        if _is_steps(value):
            inner.append(f"  {key}:")
            inner += [f"    {line}" for line in step_lines(value)]
        elif value != []:
            operands.append(f"{key} {spell(value)}")
    head = f"{step['kind']} {step['kernel']}" if "kernel" in step else str(step["kind"])
    return [" ".join([head, ", ".join(operands)]).rstrip(), *inner]


def _is_steps(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    first: object = cast("list[object]", value)[0]
    return isinstance(first, dict) and "kind" in first


def spell(value: Any) -> str:
    """A number, a register, a range or a list of them."""
    if isinstance(value, dict):
        return range_text(cast("Json", value))
    if isinstance(value, list):
        return f"({', '.join(map(spell, cast('list[Any]', value)))})"
    return str(value)


def range_text(ref: Json) -> str:
    """A byte range: `argument0[0:64]`, `transient[256:512]`, `result0[%2 + %3]`."""
    index = "" if ref["buffer"] == "transient" else str(ref["index"])
    offset, length = ref["offset"], ref["length"]
    known = isinstance(offset, int) and isinstance(length, int)
    extent = f"{offset}:{offset + length}" if known else f"{offset} + {length}"
    return f"{ref['buffer']}{index}[{extent}]"
