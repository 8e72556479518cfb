"""Helpers for evaluating short programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
import pytest

from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

Run = Callable[..., list[npt.NDArray[Any]]]


@pytest.fixture
def run() -> Run:
    """Evaluates `@main` of a text on arrays."""

    def evaluate_text(text: str, *inputs: npt.NDArray[Any], **options: Any) -> Any:
        module = read_module(text, "test.mlir", make_context())
        module.verify()
        return evaluate(module, "main", list(inputs), **options)

    return evaluate_text
