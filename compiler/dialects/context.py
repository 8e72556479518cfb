"""The context that every command parses with: all dialects known, none imported before it is used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.context import Context
from xdsl.ir import Dialect

_OURS = "ingot.compiler.dialects"
_XDSL = "xdsl.dialects"

DIALECTS: dict[str, tuple[str, str]] = {
    "affine": (f"{_XDSL}.affine", "Affine"),
    "arith": (f"{_OURS}.arith", "Arith"),
    "bufferization": (f"{_XDSL}.bufferization", "Bufferization"),
    "builtin": (f"{_XDSL}.builtin", "Builtin"),
    "cf": (f"{_XDSL}.cf", "Cf"),
    "complex": (f"{_XDSL}.complex", "Complex"),
    "dispatch": (f"{_OURS}.dispatch", "Dispatch"),
    "func": (f"{_XDSL}.func", "Func"),
    "gpu": (f"{_OURS}.gpu", "Gpu"),
    "ingot": (f"{_OURS}.ingot", "Ingot"),
    "linalg": (f"{_OURS}.linalg", "Linalg"),
    "math": (f"{_XDSL}.math", "Math"),
    "memref": (f"{_XDSL}.memref", "MemRef"),
    "ml_program": (f"{_XDSL}.ml_program", "MLProgram"),
    "plan": (f"{_OURS}.plan", "Plan"),
    "scf": (f"{_OURS}.scf", "Scf"),
    "spirv": (f"{_OURS}.spirv", "SPIRV"),
    "tensor": (f"{_OURS}.tensor", "Tensor"),
    "test": (f"{_XDSL}.test", "Test"),
    "tm_tensor": (f"{_OURS}.tm_tensor", "TMTensor"),
    "ub": (f"{_XDSL}.ub", "UB"),
    "vector": (f"{_OURS}.vector", "Vector"),
}
"""Where each dialect lives: ours in place of xDSL's where ours exist."""


def _factory(module: str, name: str) -> Callable[[], Dialect]:
    def load() -> Dialect:
        dialect = getattr(import_module(module), name)
        assert isinstance(dialect, Dialect)
        return dialect

    return load


def make_context() -> Context:
    """A context in which a dialect's module is imported when the text first mentions it."""
    context = Context()
    for name, (module, attribute) in DIALECTS.items():
        context.register_dialect(name, _factory(module, attribute))
    return context
