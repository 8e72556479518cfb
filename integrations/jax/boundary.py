"""JAX's side of a compiled function: export to StableHLO, and pytrees in and out.

`jax.export` says which arguments are kept, what they are, and how results are put together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ingot.integrations.framework import framework
from ingot.runtime.dtypes import Array
from ingot.runtime.errors import ArgumentError

_PLATFORM = "metal"
"""JAX knows no lowerings of its own for it, so what it writes are StableHLO's own ops."""


@dataclass(frozen=True)
class JaxBoundary:
    """Boundary of an exported function; `exported` is a `jax.export.Exported`."""

    exported: Any

    def text(self) -> str:
        """The StableHLO module."""
        return self.exported.mlir_module()

    def arrays(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Array]:
        """The leaves that the program uses; raises `ArgumentError` for another structure."""
        jax = framework("jax", "jax")
        leaves, tree = jax.tree.flatten((tuple(args), dict(kwargs)))
        if tree != self.exported.in_tree:
            raise ArgumentError(
                f"the arguments have the structure {tree}, and the function was compiled for "
                f"{self.exported.in_tree}"
            )
        return [_to_numpy(jax, leaves[index]) for index in self.exported.module_kept_var_idx]

    def values(self, results: Sequence[Array]) -> Any:
        """The result's pytree of JAX arrays."""
        jax = framework("jax", "jax")
        leaves = map(jax.numpy.asarray, results)
        return jax.tree.unflatten(self.exported.out_tree, leaves)


def export(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    static_argnums: int | Sequence[int],
    static_argnames: str | Sequence[str],
) -> JaxBoundary:
    """Trace `fn` and lower it; raises what JAX raises."""
    jax = framework("jax", "jax")
    jax_export = framework("jax.export", "jax")
    function = fn
    if static_argnums != () or static_argnames != () or not hasattr(fn, "lower"):
        function = jax.jit(fn, static_argnums=static_argnums, static_argnames=static_argnames)
    return JaxBoundary(jax_export.export(function, platforms=[_PLATFORM])(*args, **kwargs))


def _to_numpy(jax: Any, leaf: Any) -> Array:
    """A leaf as an array of the type that JAX gives it: a random key's bits, f32 for a float."""
    if isinstance(leaf, jax.Array):
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        return np.asarray(leaf)
    if isinstance(leaf, np.ndarray | np.generic):
        array = np.asarray(cast("Array", leaf))
        return array.astype(jax.dtypes.canonicalize_dtype(array.dtype), copy=False)
    return np.asarray(jax.numpy.asarray(leaf))
