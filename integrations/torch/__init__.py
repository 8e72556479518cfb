"""From a PyTorch module to a bundle.

    import ingot.torch

    compiled = ingot.torch.compile(model.eval(), torch.ones(1, 3, 224, 224))
    y = compiled(x)
    compiled.save("model.ingot")

`docs/pytorch.md` describes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ingot.compiler.driver.options import MathMode
from ingot.integrations.compiled import (
    DEFAULT_TARGET,
    CompiledFunction,
    compile_program,
    name_of,
)

if TYPE_CHECKING:
    from ingot.runtime.hal import Device

__all__ = ["CompiledFunction", "compile"]


def compile(
    module: Any,
    *args: Any,
    target: str | Sequence[str] = DEFAULT_TARGET,
    device: Device | str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    math: MathMode = "safe",
    demote_f64: bool = False,
) -> CompiledFunction:
    """Compile a `torch.nn.Module` for arguments like `args` and `kwargs`, for one or more targets.

    Arguments are what `torch.export` takes: pytrees of tensors, and numbers that stay what they
    are; `dynamic_shapes` is `torch.export`'s and leaves sizes open. Parameters and buffers become
    constants of the bundle. The compiled function takes tensors on the CPU and returns what the
    module returns. `module` may also be an `ExportedProgram`, and then there are no `args`.
    `device` is where calls run, open or as `ingot devices` names it; by default the first that can.

    Raises `CompileError` for what cannot be compiled, and whatever PyTorch raises when it traces.
    """
    from ingot.torch.boundary import export

    boundary = export(module, args, dict(kwargs or {}), dynamic_shapes)
    return compile_program(
        boundary, name_of(module), target=target, device=device, math=math, demote_f64=demote_f64
    )
