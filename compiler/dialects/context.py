"""The context that every command parses with: all dialects known, none imported before its use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from xdsl.context import Context
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute

_OURS = "ingot.compiler.dialects"
_XDSL = "xdsl.dialects"

DIALECTS: dict[str, tuple[str, str]] = {
    "affine": (f"{_OURS}.affine", "Affine"),
    "arith": (f"{_OURS}.arith", "Arith"),
    "bufferization": (f"{_OURS}.bufferization", "Bufferization"),
    "builtin": (f"{_XDSL}.builtin", "Builtin"),
    "cf": (f"{_XDSL}.cf", "Cf"),
    "chlo": (f"{_OURS}.chlo", "Chlo"),
    "complex": (f"{_XDSL}.complex", "Complex"),
    "dispatch": (f"{_OURS}.dispatch", "Dispatch"),
    "func": (f"{_XDSL}.func", "Func"),
    "gpu": (f"{_OURS}.gpu", "Gpu"),
    "host": (f"{_OURS}.host", "Host"),
    "ingot": (f"{_OURS}.ingot", "Ingot"),
    "iree_linalg_ext": (f"{_OURS}.iree_linalg_ext", "IREELinalgExt"),
    "linalg": (f"{_OURS}.linalg", "Linalg"),
    "math": (f"{_OURS}.math", "Math"),
    "memref": (f"{_XDSL}.memref", "MemRef"),
    "ml_program": (f"{_XDSL}.ml_program", "MLProgram"),
    "plan": (f"{_OURS}.plan", "Plan"),
    "scf": (f"{_OURS}.scf", "Scf"),
    "sdy": (f"{_OURS}.sdy", "Sdy"),
    "shape": (f"{_OURS}.shape", "Shape"),
    "simdgroup": (f"{_OURS}.simdgroup", "Simdgroup"),
    "spirv": (f"{_OURS}.spirv", "SPIRV"),
    "stablehlo": (f"{_OURS}.stablehlo", "StableHLO"),
    "tensor": (f"{_OURS}.tensor", "Tensor"),
    "test": (f"{_XDSL}.test", "Test"),
    "tm_tensor": (f"{_OURS}.tm_tensor", "TMTensor"),
    "tosa": (f"{_OURS}.tosa", "Tosa"),
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


class DialectContext(Context):
    """A context that keeps attributes it does not know as their text.

    Frameworks hang attributes of their own dialects on modules, functions and arguments; they do
    not change what the program computes. Unknown ops stay errors. For ops and types of a dialect
    that nobody registered, plugins are asked (see `plugins`).
    """

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        self._ask_plugins(name)
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def _ask_plugins(self, name: str) -> None:
        dialect_name, dot, _ = name.partition(".")
        if dot and dialect_name not in self._registered_dialects:
            from ingot.compiler.plugins import find_dialect

            if (dialect := find_dialect(dialect_name)) is not None:
                self.register_dialect(dialect_name, lambda: dialect)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        found = super().get_optional_attr(name)
        if found is None:
            from xdsl.dialects.builtin import UnregisteredAttr

            found = self._loaded_attrs[name] = UnregisteredAttr.with_name_and_type(name, False)
        return found

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        self._ask_plugins(name)
        found = super().get_optional_type(name)
        if found is None:
            from xdsl.dialects.builtin import UnregisteredAttr

            unknown = UnregisteredAttr.with_name_and_type(name, True)
            assert issubclass(unknown, TypeAttribute)
            found = self._loaded_types[name] = unknown
        return found


def make_context() -> Context:
    """A context in which a dialect's module is imported when the text first mentions it."""
    context = DialectContext()
    for name, (module, attribute) in DIALECTS.items():
        context.register_dialect(name, _factory(module, attribute))
    return context
