"""Which lowering an op has: the tables of all modules put together."""

from __future__ import annotations

from ingot.passes.stablehlo import (
    arithmetic,
    batch_norm,
    chlo_functions,
    complex_rules,
    control,
    convolution,
    custom_calls,
    dot,
    dynamic,
    factorizations,
    fourier,
    gather,
    map,
    random_bits,
    reduce,
    reduce_window,
    refused,
    scatter,
    select_and_scatter,
    shapes,
    slices,
    sort,
)
from ingot.passes.stablehlo.elementwise import lower_broadcasting, lower_elementwise
from ingot.passes.stablehlo.lowering import Lower, ScalarRule

SCALAR_RULES: dict[str, ScalarRule] = complex_rules.extended(
    {**arithmetic.RULES, **chlo_functions.RULES}
)
"""Elementwise ops, which the bodies of reductions may contain too."""

LOWERINGS: dict[str, Lower] = {
    **{name: lower_elementwise(rule) for name, rule in SCALAR_RULES.items()},
    **{
        name: lower_broadcasting(SCALAR_RULES[same])
        for name, same in chlo_functions.BROADCASTING.items()
    },
    **shapes.LOWERINGS,
    **slices.LOWERINGS,
    **dot.LOWERINGS,
    **reduce.LOWERINGS,
    **reduce_window.LOWERINGS,
    **convolution.LOWERINGS,
    **select_and_scatter.LOWERINGS,
    **fourier.LOWERINGS,
    **gather.LOWERINGS,
    **scatter.LOWERINGS,
    **sort.LOWERINGS,
    **random_bits.LOWERINGS,
    **factorizations.LOWERINGS,
    **map.LOWERINGS,
    **dynamic.LOWERINGS,
    **batch_norm.LOWERINGS,
    **control.LOWERINGS,
    **custom_calls.LOWERINGS,
    **refused.LOWERINGS,
}
"""Every op that is lowered, or refused with more than its name."""

SIZED: frozenset[str] = frozenset(
    {
        *SCALAR_RULES,
        "chlo.top_k",
        *(name for name in LOWERINGS if name.startswith("chlo.broadcast_")),
        *(
            f"stablehlo.{name}"
            for name in (
                "batch_norm_inference", "broadcast_in_dim", "case", "concatenate", "convolution",
                "custom_call", "dot", "dot_general", "dynamic_broadcast_in_dim", "dynamic_gather",
                "dynamic_iota", "dynamic_pad", "dynamic_reshape", "dynamic_slice",
                "dynamic_update_slice", "gather", "get_dimension_size", "if", "map",
                "optimization_barrier", "pad", "real_dynamic_slice", "reduce", "reduce_window",
                "reverse", "slice", "sort", "transpose", "while",
            )
        ),
    }
)  # fmt: skip
"""The ops that may take or make tensors with sizes that a call decides."""
