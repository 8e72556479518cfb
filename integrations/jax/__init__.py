"""From a JAX function to a bundle.

    import ingot.jax

    compiled = ingot.jax.compile(jax.nn.softmax, jnp.ones((64, 1000)))
    y = compiled(x)
    compiled.save("softmax.ingot")

`docs/jax.md` describes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    fn: Callable[..., Any],
    *args: Any,
    target: str | Sequence[str] = DEFAULT_TARGET,
    device: Device | str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    math: MathMode = "safe",
    demote_f64: bool = False,
) -> CompiledFunction:
    """Compile `fn` for arguments like `args` and `kwargs`, for one or more targets.

    Arguments are pytrees of arrays, of `jax.ShapeDtypeStruct`, or static as `jax.jit` means it;
    what `fn` captures becomes constants of the bundle. The compiled function takes the arguments
    that are not static, JAX's or NumPy's arrays, and returns the result's pytree of JAX arrays.
    `device` is where calls run, open or as `ingot devices` names it; by default the first that can.

    Raises `CompileError` for what cannot be compiled, and whatever JAX raises when it traces.
    """
    from ingot.jax.boundary import export

    boundary = export(fn, args, dict(kwargs or {}), static_argnums, static_argnames)
    return compile_program(
        boundary, name_of(fn), target=target, device=device, math=math, demote_f64=demote_f64
    )
