"""The ops that differ in their names, fields and numbers of operands only."""

from __future__ import annotations

from ingot.compiler.dialects.stablehlo.attributes import (
    FftTypeAttr,
    RngAlgorithmAttr,
    RngDistributionAttr,
)
from ingot.compiler.dialects.stablehlo.base import Field, OpSpec
from ingot.compiler.dialects.stablehlo.names import BINARY, UNARY

_ROUNDED = ("result_accuracy",)
"""How exact a function must be; ours are as exact as `docs/numerics.md` says, whatever it asks."""

_COLLECTIVE = (
    "replica_groups", "channel_handle", "channel_id", "use_global_device_ids", "all_gather_dim",
    "split_dimension", "concat_dimension", "split_count", "scatter_dimension",
    "source_target_pairs",
)  # fmt: skip
_TRANSFER = (
    "infeed_config", "layout", "outfeed_config", "channel_handle", "is_host_transfer",
    "source_target_pairs",
)  # fmt: skip

SPECS: tuple[OpSpec, ...] = (
    *(OpSpec(f"stablehlo.{name}", 1, properties=_ROUNDED) for name in UNARY),
    *(OpSpec(f"stablehlo.{name}", 2) for name in BINARY),
    OpSpec("stablehlo.clamp", 3),
    # Shapes
    OpSpec("stablehlo.broadcast_in_dim", 1, (Field("dims", "broadcast_dimensions", "ints"),)),
    OpSpec("stablehlo.broadcast", 1, (Field("sizes", "broadcast_sizes", "ints"),)),
    OpSpec("stablehlo.reshape", 1),
    OpSpec("stablehlo.transpose", 1, (Field("dims", "permutation", "ints"),)),
    OpSpec("stablehlo.reverse", 1, (Field("dims", "dimensions", "ints"),)),
    OpSpec("stablehlo.concatenate", None, (Field("dim", "dimension", "int"),)),
    OpSpec("stablehlo.iota", 0, (Field("dim", "iota_dimension", "int"),)),
    OpSpec("stablehlo.dynamic_slice", None, (Field("sizes", "slice_sizes", "ints"),)),
    OpSpec("stablehlo.dynamic_update_slice"),
    OpSpec(
        "stablehlo.pad",
        2,
        (
            Field("low", "edge_padding_low", "ints"),
            Field("high", "edge_padding_high", "ints"),
            Field("interior", "interior_padding", "ints"),
        ),
    ),
    OpSpec("stablehlo.get_dimension_size", 1, (Field("dim", "dimension", "int"),)),
    OpSpec("stablehlo.set_dimension_size", 2, (Field("dim", "dimension", "int"),)),
    OpSpec("stablehlo.torch_index_select", 2, properties=("dim", "batch_dims"), generic=True),
    # Dynamic forms
    OpSpec(
        "stablehlo.dynamic_broadcast_in_dim",
        2,
        (Field("dims", "broadcast_dimensions", "ints"),),
        ("known_expanding_dimensions", "known_nonexpanding_dimensions"),
    ),
    OpSpec("stablehlo.dynamic_reshape", 2),
    OpSpec("stablehlo.dynamic_iota", 1, (Field("dim", "iota_dimension", "int"),)),
    OpSpec("stablehlo.dynamic_pad", 5),
    OpSpec("stablehlo.real_dynamic_slice", 4),
    OpSpec(
        "stablehlo.dynamic_gather",
        3,
        properties=("dimension_numbers", "indices_are_sorted"),
        generic=True,
    ),
    # Windows, indices, orders
    OpSpec(
        "stablehlo.reduce_window",
        None,
        properties=(
            "window_dimensions",
            "window_strides",
            "base_dilations",
            "window_dilations",
            "padding",
        ),
        regions=1,
    ),
    OpSpec(
        "stablehlo.select_and_scatter",
        3,
        properties=("window_dimensions", "window_strides", "padding"),
        regions=2,
    ),
    OpSpec(
        "stablehlo.gather",
        2,
        properties=("dimension_numbers", "slice_sizes", "indices_are_sorted"),
        generic=True,
    ),
    OpSpec(
        "stablehlo.scatter",
        None,
        properties=("scatter_dimension_numbers", "indices_are_sorted", "unique_indices"),
        regions=1,
    ),
    OpSpec("stablehlo.sort", None, properties=("dimension", "is_stable"), regions=1),
    OpSpec("stablehlo.map", None, properties=("dimensions",), regions=1),
    # Linear algebra
    OpSpec("stablehlo.cholesky", 1, (Field("lower", "lower", "bool"),)),
    OpSpec(
        "stablehlo.triangular_solve",
        2,
        properties=("left_side", "lower", "unit_diagonal", "transpose_a"),
        generic=True,
    ),
    OpSpec(
        "stablehlo.fft",
        1,
        (Field("type", "fft_type", FftTypeAttr), Field("length", "fft_length", "ints")),
    ),
    OpSpec(
        "stablehlo.batch_norm_inference", 5, properties=("epsilon", "feature_index"), generic=True
    ),
    OpSpec(
        "stablehlo.batch_norm_training", 3, properties=("epsilon", "feature_index"), generic=True
    ),
    OpSpec("stablehlo.batch_norm_grad", 5, properties=("epsilon", "feature_index"), generic=True),
    # Random numbers
    OpSpec(
        "stablehlo.rng_bit_generator", 1, (Field("algorithm", "rng_algorithm", RngAlgorithmAttr),)
    ),
    OpSpec("stablehlo.rng", 3, (Field("distribution", "rng_distribution", RngDistributionAttr),)),
    # Control flow
    OpSpec("stablehlo.if", 1, regions=2),
    OpSpec("stablehlo.case", 1, regions=-1),
    OpSpec("stablehlo.optimization_barrier"),
    # Several devices, and the outside world
    OpSpec("stablehlo.partition_id", 0),
    OpSpec("stablehlo.replica_id", 0),
    OpSpec("stablehlo.after_all"),
    OpSpec("stablehlo.create_token", 0),
    OpSpec("stablehlo.tuple"),
    *(
        OpSpec(f"stablehlo.{name}", None, properties=_COLLECTIVE, regions=-1)
        for name in (
            "all_gather",
            "all_reduce",
            "all_to_all",
            "collective_broadcast",
            "collective_permute",
            "reduce_scatter",
            "cross-replica-sum",
        )
    ),
    *(
        OpSpec(f"stablehlo.{name}", None, properties=_TRANSFER, generic=True)
        for name in ("infeed", "outfeed", "send", "recv")
    ),
)
