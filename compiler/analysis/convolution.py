"""Convolutions among structured ops, seen as contractions of an image's windows with a filter."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.affine_maps import linear_form
from ingot.compiler.analysis.structured import (
    indexing_maps,
    is_parallel,
    is_sum_of_products,
    loop_extents,
    reduction_loops,
)
from ingot.compiler.dialects.linalg import GenericOp


@dataclass(frozen=True)
class Convolution:
    """A sum of products of an image at shifted places and a filter; loops by position."""

    image: int
    """Which input is the image; the other one is the filter."""
    outer: tuple[int, ...]
    """Loops of the image and the result, ahead of the first loop of the filter and the result."""
    windows: tuple[int, ...]
    """The other loops of the image and the result, in the order of the result."""
    depth: tuple[int, ...]
    """Loops of the sum, in the order of the filter."""
    is_depth_contiguous: bool
    """The image is contiguous along the last loop of the sum rather than along the windows."""


def match_convolution(op: GenericOp) -> Convolution | None:
    """Match a convolution that a contraction computes: no loop belongs to all three operands."""
    if not is_sum_of_products(op):
        return None
    *inputs, out = indexing_maps(op)
    plain = [m.is_projected_permutation() for m in inputs]
    if plain.count(True) != 1 or not out.is_projected_permutation():
        return None
    image = plain.index(False)
    forms = [linear_form(expr, out.num_dims) for expr in inputs[image].results]
    if any(form is None or min(form[0], default=0) < 0 for form in forms):
        return None
    in_image, in_filter = inputs[image].used_dims(), inputs[1 - image].used_dims()
    depth = tuple(
        e.position
        for e in inputs[1 - image].results
        if isinstance(e, AffineDimExpr) and not is_parallel(op)[e.position]
    )
    written = [e.position for e in out.results if isinstance(e, AffineDimExpr)]
    features = [loop for loop in written if loop in in_filter]
    if set(depth) != set(reduction_loops(op)) or not set(depth) <= in_image:
        return None
    if not features or any((loop in in_image) == (loop in in_filter) for loop in written):
        return None
    first = written.index(features[0])
    windows = tuple(loop for loop in written if loop in in_image)
    if not windows or not depth:
        return None
    is_first = written.index(windows[0]) < first and written[-1] in features
    outer = () if is_first else tuple(loop for loop in windows if written.index(loop) < first)
    last = inputs[image].results[-1]
    return Convolution(
        image=image,
        outer=outer,
        windows=tuple(loop for loop in windows if loop not in outer),
        depth=depth,
        is_depth_contiguous=last == AffineDimExpr(depth[-1]),
    )


_FEWEST_WINDOWS, _FEWEST_FEATURES, _FEWEST_TERMS = 32, 16, 16


def is_worth_unfolding(op: GenericOp, convolution: Convolution) -> bool:
    """Whether tiles of the unfolded convolution are large enough to be staged."""
    extents = loop_extents(op)

    def count(loops: tuple[int, ...]) -> int:
        product = 1
        for loop in loops:
            product *= extents[loop]
        return product

    depth, windows = count(convolution.depth), count(convolution.windows)
    features = count(tuple(range(len(extents)))) // (count(convolution.outer) * depth * windows)
    return windows >= _FEWEST_WINDOWS and features >= _FEWEST_FEATURES and depth >= _FEWEST_TERMS
