"""The gradient of a convolution by its image, as a convolution."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.affine_maps import permutation_of, plain_dims, simplify
from ingot.compiler.analysis.generics import Emitter, elementwise
from ingot.compiler.analysis.map_inversion import span
from ingot.compiler.analysis.structured import shape_of, through_casts
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith

from .drafts import Draft
from .kernels import Turned, finish, zeros


def as_padded_contraction(
    emit: Emitter, draft: Draft, turned: Turned, type_: TensorType[Attribute]
) -> SSAValue | None:
    """A sum of products stays one: the factor that is read at computed places gets zeros around it
    and between its elements, so that every place exists, and the other factor is read backwards.

        dx[p] = sum over k of padded[p + k] * flipped[k]    for y[i] = sum of x[i + k] * w[k]
    """
    product, inversion = draft.value.owner, turned.inversion
    if not isinstance(product, arith.MulfOp) or len(draft.operands) != 2:
        return None
    sides = [through_casts(v) for v in product.operands]
    if {id(s) for s in sides} != {id(a) for a in draft.block.args} or None in inversion.pivots:
        return None
    pivots = turned.computed
    if any(len(pivots & set(form.loops)) > 1 or form.modulus for form in inversion.forms):
        return None
    users = [i for i, m in enumerate(draft.maps) if pivots & set(m.used_dims())]
    if len(users) != 1:
        return None
    (which,) = users
    other = 1 - which
    summed = [e.used_dims() for e in draft.maps[which].results if not isinstance(e, AffineDimExpr)]
    if any(pivots & set(dims) for dims in summed):
        return None
    flipped = _read_backwards(draft, turned, which)
    if flipped and permutation_of(draft.maps[other]) is None:
        flipped = set[int]()
    image, map_ = _padded(emit, draft, which, turned, flipped)
    if flipped:
        weights, weights_map = _flipped(emit, draft, other, turned, flipped, draft.maps[which])
    else:
        weights, weights_map = draft.operands[other], turned.map(draft.maps[other])
    assert weights_map is not None
    draft.operands[which], draft.maps[which] = image, map_
    draft.operands[other], draft.maps[other] = weights, weights_map
    draft.extents = turned.loop_extents
    return finish(emit, draft, type_)


def _read_backwards(draft: Draft, turned: Turned, which: int) -> set[int]:
    """The loops of the sum that run backwards over operand `which`, and never forwards."""
    backwards, forwards = set[int](), set[int]()
    for loop in plain_dims(draft.maps[which]):
        if loop is None or loop not in turned.computed:
            continue
        form = turned.inversion.forms[turned.inversion.pivots.index(loop)]
        sign = 1 if form.coefficients[loop] > 0 else -1
        for k in form.loops:
            if k != loop:
                (backwards if sign * form.coefficients[k] > 0 else forwards).add(k)
    return backwards - forwards


def _padded(
    emit: Emitter, draft: Draft, which: int, turned: Turned, flipped: set[int]
) -> tuple[SSAValue, AffineMap]:
    """Operand `which` with zeros wherever the turned kernel asks for no iteration, and its map; the
    loops `flipped` count from their ends."""
    source, map_ = draft.operands[which], draft.maps[which]
    count = turned.loops
    shape = list(shape_of(source))
    offsets, strides = [0] * len(shape), [1] * len(shape)
    exprs: list[AffineExpr] = []
    for dim, loop in enumerate(plain_dims(map_)):
        if loop is None or loop not in turned.computed:
            new = turned.map(AffineMap(map_.num_dims, 0, (map_.results[dim],)))
            assert new is not None
            exprs.append(new.results[0])
            continue
        place = turned.inversion.pivots.index(loop)
        form = turned.inversion.forms[place]
        scale = form.coefficients[loop]
        sign = 1 if scale > 0 else -1
        low, high = span(form, loop, turned.shape[place], draft.extents)
        shape[dim], offsets[dim], strides[dim] = high - low + 1, -low, abs(scale)
        expr = AffineDimExpr(place) * sign - sign * form.offset - low
        for k in form.loops:
            if k == loop:
                continue
            new_loop = turned.expr(k)
            assert new_loop is not None
            if k in flipped:
                new_loop = new_loop * -1 + (draft.extents[k] - 1)
            expr = expr + new_loop * (-sign * form.coefficients[k])
        exprs.append(simplify(expr, count))
    sizes = list(shape_of(source))
    if shape != sizes:
        whole = zeros(emit, TensorType(draft.block.args[which].type, shape))
        insert = tensor.InsertSliceOp.get(source, whole, sizes, offsets, strides)
        source = emit.add(insert).result
    return source, AffineMap(count, 0, tuple(exprs))


def _flipped(
    emit: Emitter,
    draft: Draft,
    which: int,
    turned: Turned,
    flipped: set[int],
    image: AffineMap,
) -> tuple[SSAValue, AffineMap]:
    """Operand `which` with the loops `flipped` counted from their ends, and its map.

    Its dimensions come in the order that convolutions like: the loops of the sum as the image has
    them, in front of those of the result where the result is contiguous along one of these.
    """
    source = draft.operands[which]
    read = permutation_of(draft.maps[which])
    assert read is not None
    reduced = turned.inversion.reduced
    order = [loop for e in image.results for loop in sorted(e.used_dims())]
    order += [k for form in turned.inversion.forms for k in form.loops]
    places = {loop: order.index(loop) if loop in order else len(order) for loop in read}
    # A loop that shares a dimension of the image with a loop of the result comes where that does.
    for form, pivot in zip(turned.inversion.forms, turned.inversion.pivots, strict=True):
        for k in form.loops:
            if k in reduced and pivot in order:
                places[k] = order.index(pivot)
    sums = sorted((loop for loop in read if loop in reduced), key=lambda loop: places[loop])
    kept = [loop for loop in read if loop not in reduced]
    last = turned.inversion.pivots[-1]
    loops = [*sums, *kept] if last in kept else [*kept, *sums]
    exprs: list[AffineExpr] = []
    for loop in read:
        dim: AffineExpr = AffineDimExpr(loops.index(loop))
        exprs.append(dim * -1 + (draft.extents[loop] - 1) if loop in flipped else dim)
    type_ = TensorType(tensor_type(source).element_type, [draft.extents[loop] for loop in loops])
    map_ = AffineMap(len(loops), 0, tuple(exprs))
    made = elementwise(emit, type_, [source], [map_], lambda _, args: args)
    return made, _plain_map(turned, loops)


def _plain_map(turned: Turned, loops: Sequence[int]) -> AffineMap:
    exprs = [turned.expr(loop) for loop in loops]
    known = tuple(e for e in exprs if e is not None)
    assert len(known) == len(loops)
    return AffineMap(turned.loops, 0, known)
