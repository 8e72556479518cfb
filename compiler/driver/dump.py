"""`--dump-dir`: every stage of a compilation under names that sort.

00-input.mlir
metal-apple7/10-tensor.mlir, 20-dispatch.mlir, 30-tiles.mlir, 40-buffers.mlir, 50-spirv.mlir
metal-apple7/kernels/main_softmax/20-dispatch.mlir, ..., 60-code.spvasm, 60-code.spv, 70-code.metal
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingot.compiler.driver.diagnostics import CompileError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation


@dataclass(frozen=True)
class Dump:
    """Writes into `folder`; nothing at all when it is None."""

    folder: Path | None

    def source(self, text: str) -> None:
        """The program as it was read."""
        self._write(Path("00-input.mlir"), text)

    def stage(self, target: str, number: int, name: str, module: ModuleOp) -> None:
        """The module after a stage, and each kernel of it alone."""
        if self.folder is None:
            return
        from ingot.compiler.driver.pass_pipeline import module_text

        base = Path(_file_name(target))
        self._write(base / f"{number}-{name}.mlir", module_text(module) + "\n")
        for kernel, op in kernels_of(module).items():
            path = base / "kernels" / _file_name(kernel) / f"{number}-{name}.mlir"
            parts = (*helpers_of(module, op), op)
            self._write(path, "".join(str(part) + "\n" for part in parts))

    def kernel(self, target: str, kernel: str, name: str, content: str | bytes) -> None:
        """A file of one kernel, such as `60-code.spv`."""
        self._write(Path(_file_name(target)) / "kernels" / _file_name(kernel) / name, content)

    def _write(self, relative: Path, content: str | bytes) -> None:
        if self.folder is None:
            return
        path = self.folder / relative
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise CompileError(f"cannot write {path}: {error.strerror or error}") from None


def kernels_of(module: ModuleOp) -> dict[str, Operation]:
    """The kernels of a module by symbol: marked functions, or spirv modules after the lowering."""
    from xdsl.dialects.builtin import StringAttr

    found: dict[str, Operation] = {}
    for op in module.ops:
        if op.name == "spirv.module" or "ingot.kernel" in op.attributes:
            name = op.properties.get("sym_name") or op.attributes.get("sym_name")
            if isinstance(name, StringAttr):
                found[name.data] = op
    return found


def helpers_of(module: ModuleOp, kernel: Operation) -> list[Operation]:
    """The functions that hold parts of a kernel's code, in the order of the module."""
    from xdsl.dialects.func import CallOp, FuncOp

    called = {op.callee.string_value() for op in kernel.walk() if isinstance(op, CallOp)}
    functions = (op for op in module.ops if called and isinstance(op, FuncOp))
    return [op for op in functions if op.sym_name.data in called]


def _file_name(name: str) -> str:
    """A name without the characters that file systems refuse."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]', "-", name) or "-"
