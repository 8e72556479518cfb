"""The NumPy reference evaluator of L1 programs, against which every device is held."""

from __future__ import annotations

from ingot.compiler.interpreter.evaluate import evaluate
from ingot.compiler.interpreter.values import EvaluationError

__all__ = ["EvaluationError", "evaluate"]
