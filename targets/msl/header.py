"""The comment at the top of a kernel: what made it, from what, and what it is launched with."""

from __future__ import annotations

from collections.abc import Sequence


def header(
    *,
    kernel_name: str,
    compiler: str,
    spirv_cross_version: str,
    source: str,
    math: str,
    threadgroup_size: tuple[int, int, int],
    argument_buffer: bool,
    buffers: Sequence[tuple[int, str, str, str]],
) -> list[str]:
    """Comment lines; each of `buffers` is (binding, name in the text, access, type)."""
    made = f"SPIRV-Cross C API {spirv_cross_version}"
    lines = [f"{kernel_name}, made by {f'{compiler} with ' if compiler else ''}{made}"]
    if source:
        lines.append(f"source: {source}")
    size = " x ".join(map(str, threadgroup_size))
    lines.append(f"threadgroup: {size} threads, math: {math}")
    where = "id" if argument_buffer else "buffer"
    if argument_buffer:
        lines.append("argument buffer: buffer(0), a pointer for each id")
    width = max((len(name) for _, name, _, _ in buffers), default=0)
    lines += [
        f"{where}({binding}) {name:<{width}}  {access.replace('_', ' ')}, {kind}"
        for binding, name, access, kind in buffers
    ]
    # A name or path with a line break in it must not end the comment.
    return [f"// {' '.join(line.split()) if chr(10) in line else line}" for line in lines]
