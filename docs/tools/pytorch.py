"""Writes the tables of docs/pytorch.md: element types, and ops on whole tensors."""

from __future__ import annotations

from pathlib import Path

from ingot.compiler.dialects.tm_tensor import TMTensor
from ingot.runtime.dtypes import numpy_dtype
from ingot.targets.bundle.model import DType

PAGE = Path(__file__).resolve().parents[1] / "pytorch.md"
_WITHOUT_TENSORS = (DType.I4,)
"""Element types of bundles that PyTorch has no tensors of."""


def types() -> str:
    """Each element type as PyTorch and as the bundle name it."""
    lines = ["| PyTorch | in the bundle |", "| --- | --- |"]
    for dtype in DType:
        if dtype not in _WITHOUT_TENSORS:
            lines.append(f"| `torch.{numpy_dtype(dtype).name}` | `{dtype.name.lower()}` |")
    return "\n".join(lines) + "\n"


def ops() -> str:
    """The ops of torch-mlir's own dialect, with the first line of what each does."""
    lines = ["| op | what it does |", "| --- | --- |"]
    for op in sorted(TMTensor.operations, key=lambda op: op.name):
        if op.name != "tm_tensor.yield":
            lines.append(f"| `{op.name}` | {_first_line(op)} |")
    return "\n".join(lines) + "\n"


def _first_line(op: type) -> str:
    """Of the documentation of an op, or of the class that it refers to (``See `ScanLike`.``)."""
    bases = {base.__name__: base for base in op.__mro__}
    line = (op.__doc__ or "").strip().splitlines()[0]
    name = line.removeprefix("See `").removesuffix("`.")
    return _first_line(bases[name]) if name in bases and name != op.__name__ else line


def page() -> str:
    """The page with current tables."""
    text = PAGE.read_text("utf-8")
    for name, table in (("types", types()), ("ops", ops())):
        begin = f"<!-- table {name} -->\n"
        head, _, rest = text.partition(begin)
        text = head + begin + table + rest[rest.index("<!-- end -->") :]
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
