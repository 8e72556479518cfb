"""PyTorch's own numbers as the oracle, for modules compiled through torch.export and torch-mlir.

Skipped where either is not installed; `pip install -e '.[dev,torch]'` in an environment of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.harness import DEVICES, TARGETS, device

import ingot.runtime as rt
from ingot.compiler.driver.diagnostics import CompileError
from ingot.runtime.errors import ArgumentError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")
ingot_torch = pytest.importorskip("ingot.torch")
nn = torch.nn


class Mixed(nn.Module):
    """Trees in and out, numbers among them, bf16; `changes` what a bundle cannot change."""

    def __init__(self, changes: str = "") -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.register_buffer("count", torch.zeros(1))
        self.changes = changes

    def forward(self, x: Any, factor: float, *, twice: bool = True) -> Any:
        if self.changes == "buffer":
            self.count += 1
        if self.changes == "argument":
            x["b"] += 1
        y = self.linear(x["a"]) * factor
        return {"y": y * 2 if twice else y, "rest": (x["b"] + 1, 3, None, x["b"] > 0)}


def normalized() -> Any:
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10))  # fmt: skip


MODULES: list[tuple[str, Callable[[], Any], tuple[int, ...]]] = [
    ("convolutional", normalized, (2, 3, 8, 8)),
    ("encoder", lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (2, 5, 16)),
    ("lstm", lambda: nn.LSTM(4, 6, batch_first=True), (2, 5, 4)),
]


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize(("make", "shape"), [m[1:] for m in MODULES], ids=[m[0] for m in MODULES])
def test_a_module(make: Callable[[], Any], shape: tuple[int, ...], device_name: str) -> None:
    torch.manual_seed(0)
    module, x = make().eval(), torch.randn(shape)
    compiled = ingot_torch.compile(module, x, target=TARGETS[device_name])
    flatten = torch.utils._pytree.tree_flatten
    ours, theirs = flatten(compiled.bind(device(device_name))(x)), flatten(module(x))
    assert ours[1] == theirs[1]
    for mine, other in zip(ours[0], theirs[0], strict=True):
        torch.testing.assert_close(mine, other.detach(), rtol=1e-4, atol=1e-5)


def test_trees_numbers_and_types(tmp_path: Path) -> None:
    module = Mixed().eval()
    x = {"a": torch.randn(2, 8), "b": torch.arange(3).to(torch.bfloat16)}
    compiled = ingot_torch.compile(module, x, 2.5, kwargs={"twice": False}).bind(device("host"))
    ours, theirs = compiled(x, 2.5, twice=False), module(x, 2.5, twice=False)
    torch.testing.assert_close(ours["y"], theirs["y"].detach())
    assert ours["rest"][1:3] == (3, None)
    for mine, other in zip(ours["rest"][::3], theirs["rest"][::3], strict=True):
        torch.testing.assert_close(mine, other)
    with pytest.raises(ArgumentError, match=r"is 2\.0, and the module was compiled for 2\.5"):
        compiled(x, 2.0, twice=False)
    with pytest.raises(ArgumentError, match="the arguments have the structure"):
        compiled(x["a"], 2.5, twice=False)
    compiled.save(tmp_path / "m.ingot")
    assert len(rt.load(tmp_path / "m.ingot").functions["main"].results) == 3


def test_open_sizes_and_exported_programs() -> None:
    linear = nn.Linear(8, 4)
    shapes = ({0: torch.export.Dim("n")},)
    program = torch.export.export(linear, (torch.ones(3, 8),), dynamic_shapes=shapes)
    compiled = ingot_torch.compile(program).bind(device("host"))
    for n in (2, 5):
        x = torch.randn(n, 8)
        np.testing.assert_allclose(compiled(x), linear(x).detach(), rtol=1e-4, atol=1e-6)


class Svd(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.linalg.svd(x)


MIXED = ({"a": torch.ones(2, 8), "b": torch.ones(3)}, 1.0)


@pytest.mark.parametrize(
    ("module", "args", "sentence"),
    [
        (Mixed("buffer"), MIXED, "changes its buffer `count`"),
        (Mixed("argument"), MIXED, "changes its argument `x_b`"),
        (Svd(), (torch.ones(3, 3),), "cannot lower the operator `aten._linalg_svd`"),
    ],
    ids=["buffer", "argument", "operator"],
)
def test_refusals(module: Any, args: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(CompileError, match=sentence):
        ingot_torch.compile(module, *args)
