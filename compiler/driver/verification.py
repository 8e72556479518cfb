"""Verification that knows where it failed.

xDSL's verifier raises an exception that carries no op; this walk asks the ops one by one once the
quick check of the whole module has failed, so that the message can point at the source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingot.compiler.analysis.diagnostics import Refusal, refuse
from ingot.compiler.analysis.dominance import first_undefined_use

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation


class InvalidIR(Refusal):
    """The module breaks a rule of its dialects; `stage` says when it was found."""

    stage: str = ""


def verify(module: ModuleOp, stage: str = "") -> None:
    """Verify the module; raises `InvalidIR` at the innermost op that is wrong."""
    try:
        module.verify()
    except Exception as error:  # xDSL's verifiers raise more than `VerifyException`
        culprit, message = _culprit(module) or (module, _one_line(error))
        refusal = refuse(culprit, _sentence(culprit, message))
        invalid = InvalidIR(refusal.message, refusal.location, refusal.hint)
        invalid.stage = stage
        raise invalid from error
    if (undefined := first_undefined_use(module)) is not None:
        user, operand = undefined
        name = f"%{operand.name_hint}" if operand.name_hint else "an operand"
        refusal = refuse(user, f"'{user.name}' op uses {name}, which is not defined before it")
        invalid = InvalidIR(refusal.message, refusal.location, refusal.hint)
        invalid.stage = stage
        raise invalid


def _culprit(module: ModuleOp) -> tuple[Operation, str] | None:
    for op in module.walk(reverse=False):
        try:
            op.verify(verify_nested_ops=False)
        except Exception as error:
            return op, _one_line(error)
    return None


def _sentence(op: Operation, message: str) -> str:
    prefix = f"'{op.name}' op "
    message = message.removeprefix("Operation does not verify: ").removeprefix(
        f"Operation {op.name} "
    )
    return message if message.startswith(prefix) else prefix + message


def _one_line(error: Exception) -> str:
    """xDSL says what is wrong on one line and why on the next."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2]) if lines else type(error).__name__
