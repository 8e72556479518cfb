"""The C entry points of a kernel: they fetch its arguments and call it."""

from __future__ import annotations

from ingot.runtime.devices.host.errors import KernelCompileError
from ingot.runtime.devices.host.reflection import KernelSignature, Parameter, Reflection

_POSITIONS = {
    "thread_position_in_grid": "thread_position_in_grid",
    "thread_position_in_threadgroup": "thread_position_in_threadgroup",
    "threadgroup_position_in_grid": "threadgroup_position_in_grid",
    "threads_per_threadgroup": "threads_per_threadgroup",
    "dispatch_threads_per_threadgroup": "threads_per_threadgroup",
    "threadgroups_per_grid": "threadgroups_per_grid",
    "threads_per_grid": "threads_per_grid",
}
_SCALARS = {
    "thread_index_in_threadgroup": "ingot_t->thread_index_in_threadgroup",
    "thread_index_in_simdgroup": "ingot_t->thread_index_in_simdgroup",
    "simdgroup_index_in_threadgroup": "ingot_t->simdgroup_index_in_threadgroup",
    "simdgroups_per_threadgroup": "ingot_t->simdgroups_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup": "ingot_t->simdgroups_per_threadgroup",
    "threads_per_simdgroup": "INGOT_SIMD_WIDTH",
    "thread_execution_width": "INGOT_SIMD_WIDTH",
    "thread_index_in_quadgroup": "ingot_t->thread_index_in_simdgroup % 4u",
    "quadgroup_index_in_threadgroup": "ingot_t->thread_index_in_threadgroup / 4u",
    "quadgroups_per_threadgroup": ("(::ingot::volume(ingot_t->threads_per_threadgroup) + 3u) / 4u"),
}
BUILTINS = frozenset(_POSITIONS) | frozenset(_SCALARS) | {"grid_origin", "grid_size"}
"""Attributes of parameters that give an id or a size."""
POSITION_BUILTINS = frozenset(_POSITIONS) | {"grid_origin", "grid_size"}
"""Those that may be a scalar or a vector; the others are scalars."""

_WAITING = ("simd_", "quad_", "simdgroup_")
_LOOP = """\
extern "C" __attribute__((visibility("default"))) void {symbol}(
    const ingot_thread* ingot_base, void* const* ingot_b, void* const* ingot_g) {{
  ingot_thread ingot_place = *ingot_base;
  const ingot_thread* ingot_t = &ingot_place;
  const uint ingot_x = ingot_base->threads_per_threadgroup[0];
  const uint ingot_y = ingot_base->threads_per_threadgroup[1];
  const uint ingot_z = ingot_base->threads_per_threadgroup[2];
  uint ingot_index = 0;
  for (uint ingot_k = 0; ingot_k < ingot_z; ingot_k++) {{
    for (uint ingot_j = 0; ingot_j < ingot_y; ingot_j++) {{
      for (uint ingot_i = 0; ingot_i < ingot_x; ingot_i++, ingot_index++) {{
        const uint ingot_at[3] = {{ingot_i, ingot_j, ingot_k}};
        for (int ingot_d = 0; ingot_d < 3; ingot_d++) {{
          ingot_place.thread_position_in_threadgroup[ingot_d] = ingot_at[ingot_d];
          ingot_place.thread_position_in_grid[ingot_d] =
              ingot_base->thread_position_in_grid[ingot_d] + ingot_at[ingot_d];
        }}
        ingot_place.thread_index_in_threadgroup = ingot_index;
        ingot_place.thread_index_in_simdgroup = ingot_index % INGOT_SIMD_WIDTH;
        ingot_place.simdgroup_index_in_threadgroup = ingot_index / INGOT_SIMD_WIDTH;
        {call};
      }}
    }}
  }}
}}
"""
_THREAD = """\
extern "C" __attribute__((visibility("default"))) void {symbol}(
    const ingot_thread* ingot_t, void* const* ingot_b, void* const* ingot_g) {{
  {call};
}}
"""
_ALIGNMENTS = """\
extern "C" __attribute__((visibility("default"))) extern const uint {symbol}[] = {{{values}}};
"""


def thread_symbol(key: str) -> str:
    """Name of the function that runs one thread."""
    return f"ingot_thread_{key}"


def group_symbol(key: str) -> str:
    """Name of the function that runs a threadgroup's threads one after the other."""
    return f"ingot_group_{key}"


def alignment_symbol(key: str) -> str:
    """Name of the array of the alignments of what the buffer parameters point to, in order."""
    return f"ingot_alignments_{key}"


def may_wait(found: Reflection) -> bool:
    """Whether threads can wait for each other: a barrier or a SIMD-group operation is named."""
    attribute_tokens = {i for a in found.attributes for i in range(a.first, a.last)}
    return any(
        token.kind == "name"
        and (token.text.startswith(_WAITING) or "barrier" in token.text)
        and index not in attribute_tokens
        for index, token in enumerate(found.tokens)
    )


def entry_points(found: Reflection, signature: KernelSignature, key: str) -> str:
    """Return C++ text that belongs behind the kernel's.

    Raises `KernelCompileError` for parameters that a compute kernel cannot have here.
    """
    call = f"{signature.name}({', '.join(_argument(signature, p) for p in signature.parameters)})"
    buffers = [p for p in signature.parameters if p.buffer is not None]
    alignments = [f"::ingot::alignment_of<{p.type}>()" for p in buffers] or ["1"]
    parts = [
        _THREAD.format(symbol=thread_symbol(key), call=call),
        _ALIGNMENTS.format(symbol=alignment_symbol(key), values=", ".join(alignments)),
    ]
    if not may_wait(found):
        parts.append(_LOOP.format(symbol=group_symbol(key), call=call))
    return "\n".join(parts)


def _argument(signature: KernelSignature, parameter: Parameter) -> str:
    kind = parameter.type
    if parameter.buffer is not None or parameter.threadgroup is not None:
        place = (
            f"ingot_b[{parameter.buffer}]"
            if parameter.buffer is not None
            else f"ingot_g[{parameter.threadgroup}]"
        )
        if kind.endswith("&"):
            return f"*({kind[:-1]}*){place}"
        if kind.endswith(("*", "restrict")):
            return f"({kind}){place}"
    value_type = " ".join(word for word in kind.split() if word != "const")
    if parameter.builtin in _POSITIONS:
        return f"::ingot::position<{value_type}>(ingot_t->{_POSITIONS[parameter.builtin]})"
    if parameter.builtin in _SCALARS:
        return f"({value_type})({_SCALARS[parameter.builtin]})"
    if parameter.builtin == "grid_size":
        return f"::ingot::position<{value_type}>(ingot_t->threads_per_grid)"
    if parameter.builtin == "grid_origin":
        return f"{value_type}(0)"
    raise KernelCompileError(
        f"kernel '{signature.name}': parameter '{parameter.type} {parameter.name}' is neither "
        "memory nor an id that the host device knows"
    )
