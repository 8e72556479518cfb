"""What `bench.compile` measures can be compiled, and its table says what was measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def bench_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_a_transformer_has_the_layers_asked_for() -> None:
    from bench.transformer import transformer

    text = transformer(3)
    verify(read_module(text, "t.mlir", make_context()))
    assert text.count("stablehlo.exponential") == 3


def test_a_row_has_medians_and_ratios() -> None:
    from bench.compile import Measured, Program, Row, Used, line, summary

    def measured(*cpu: float) -> Measured:
        return Measured([Used(c, 2 * c, 50) for c in cpu])

    program = Program("softmax", Path("softmax.mlir"), "kernels", 9)
    row = Row(program, measured(0.4, 0.5, 0.9), measured(0.25), Measured())
    cells = "softmax 0.50 0.25 2.00 1.00 0.50 2.00 50 50 -"
    assert " ".join(line(row).split()) == cells
    assert "2.00 (geometric mean)" in summary([row], "kernels")
    assert "no program" in summary([row], "layers")


def test_the_system_says_what_a_process_used() -> None:
    from bench.compile import use

    used = use([sys.executable, "-c", "pass"], {})
    assert used is not None
    assert used.cpu > 0
    assert used.memory > 1
    assert use([sys.executable, "-c", "raise SystemExit(3)"], {}) is None
