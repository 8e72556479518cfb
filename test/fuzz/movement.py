"""Steps that move elements: reshapes, slices, pads, concatenations, insertions, generators."""

from __future__ import annotations

from math import prod

from fuzz.bodies import Scalar
from fuzz.builder import MOST_ELEMENTS, Builder, identity, permuted
from fuzz.values import FLOATS, Shape, Spread, Value, tensor


def joined(first: Spread, second: Spread) -> Spread:
    """Elements of one or of the other."""
    grid = min(first.grid, second.grid) if first.grid and second.grid else None
    return Spread(max(first.bound, second.bound), grid, max(first.error, second.error))


def literal(dtype: str) -> str:
    """A constant of the type that no zero hides."""
    return "7.0" if dtype in FLOATS else "true" if dtype == "i1" else "7"


def collapse(builder: Builder) -> None:
    value = builder.any()
    rank = len(value.shape)
    if not rank:
        return
    groups: list[list[int]] = [[0]]
    for d in range(1, rank):
        if builder.random.random() < 0.6:
            groups[-1].append(d)
        else:
            groups.append([d])
    shape = tuple(prod(value.shape[d] for d in group) for group in groups)
    builder.define(
        f"tensor.collapse_shape {value.name} {groups} : {value.type} into "
        f"{tensor(shape, value.dtype)}",
        shape,
        value.dtype,
        [value],
        value.spread,
    )


def expand(builder: Builder) -> None:
    value = builder.any()
    if not 0 < len(value.shape) < 4:
        return
    groups: list[list[int]] = []
    shape: list[int] = []
    for extent in value.shape:
        divisors = [d for d in (1, 2, 3, 4, 5, 8, 13) if extent and extent % d == 0]
        if divisors and builder.random.random() < 0.6:
            inner = builder.random.choice(divisors)
            parts = [extent // inner, inner]
        else:
            parts = [extent]
        groups.append([len(shape) + i for i in range(len(parts))])
        shape += parts
    builder.define(
        f"tensor.expand_shape {value.name} {groups} output_shape {shape} : {value.type} into "
        f"{tensor(tuple(shape), value.dtype)}",
        tuple(shape),
        value.dtype,
        [value],
        value.spread,
    )


def extract_slice(builder: Builder) -> None:
    value = builder.any()
    random = builder.random
    offsets = [random.randint(0, max(0, n - 1)) for n in value.shape]
    strides = [random.choice([1, 1, 2, 3]) for _ in value.shape]
    sizes = [
        random.randint(min(n, 1), (n - o + s - 1) // s)
        for n, o, s in zip(value.shape, offsets, strides, strict=True)
    ]
    shape = tuple(sizes)
    if builder.random.random() < 0.3:
        shape = tuple(n for n in sizes if n != 1)
    builder.define(
        f"tensor.extract_slice {value.name}{offsets} {sizes} {strides} : {value.type} to "
        f"{tensor(shape, value.dtype)}",
        shape,
        value.dtype,
        [value],
        value.spread,
    )


def pad(builder: Builder) -> None:
    value = builder.any()
    random = builder.random
    low = [random.choice([0, 0, 1, 2]) for _ in value.shape]
    high = [random.choice([0, 0, 1, 3]) for _ in value.shape]
    shape = tuple(a + n + b for a, n, b in zip(low, value.shape, high, strict=True))
    if prod(shape) > MOST_ELEMENTS or not shape:
        return
    name = builder.fresh()
    arguments = ", ".join(f"{name}_p{d}: index" for d in range(len(shape)))
    result = Value(name, shape, value.dtype, joined(value.spread, Spread(7.0, 1.0)))
    builder.add(
        f"{name}_c = arith.constant {literal(value.dtype)}"
        f"{'' if value.dtype == 'i1' else f' : {value.dtype}'}\n"
        f"{name} = tensor.pad {value.name} low{low} high{high} {{\n^bb0({arguments}):\n"
        f"  tensor.yield {name}_c : {value.dtype}\n}} : {value.type} to {result.type}",
        [result],
        [value.name],
    )


def concat(builder: Builder) -> None:
    value = builder.any()
    if not value.shape:
        return
    axis = builder.random.randrange(len(value.shape))

    def fits(other: Value) -> bool:
        return (
            other.dtype == value.dtype
            and len(other.shape) == len(value.shape)
            and all(
                a == b
                for d, (a, b) in enumerate(zip(other.shape, value.shape, strict=True))
                if d != axis
            )
        )

    parts = [value]
    for _ in range(builder.random.choice([1, 1, 2])):
        parts.append(builder.pick(fits) or value)
    builder.random.shuffle(parts)
    total = sum(part.shape[axis] for part in parts)
    shape = (*value.shape[:axis], total, *value.shape[axis + 1 :])
    spread = parts[0].spread
    for part in parts[1:]:
        spread = joined(spread, part.spread)
    names, types = ", ".join(p.name for p in parts), ", ".join(p.type for p in parts)
    builder.define(
        f"tensor.concat dim({axis}) {names} : ({types}) -> {tensor(shape, value.dtype)}",
        shape,
        value.dtype,
        parts,
        spread,
    )


def insert_slice(builder: Builder) -> None:
    value = builder.any()
    random = builder.random
    strides = [random.choice([1, 1, 2]) for _ in value.shape]
    low = [random.randint(0, 2) for _ in value.shape]
    extents = [
        a + max(0, (n - 1) * s + 1) + random.randint(0, 2)
        for a, n, s in zip(low, value.shape, strides, strict=True)
    ]
    if prod(extents) > MOST_ELEMENTS:
        return
    into = builder.like(tuple(extents), [value.dtype])
    builder.define(
        f"tensor.insert_slice {value.name} into {into.name}{low} {list(value.shape)} {strides} : "
        f"{value.type} into {into.type}",
        into.shape,
        value.dtype,
        [value, into],
        joined(value.spread, into.spread),
    )


def transpose(builder: Builder) -> None:
    value = builder.any()
    order = list(range(len(value.shape)))
    builder.random.shuffle(order)
    shape = tuple(value.shape[d] for d in order)
    init = builder.empty(shape, value.dtype)
    builder.define(
        f"linalg.transpose ins({value.name} : {value.type}) outs({init.name} : {init.type}) "
        f"permutation = {order}",
        shape,
        value.dtype,
        [value, init],
        value.spread,
    )


def broadcast(builder: Builder) -> None:
    value = builder.any()
    random = builder.random
    if len(value.shape) > 3 or value.size > MOST_ELEMENTS // 8:
        return
    extra = random.choice([1, 2, 3, 5, 8])
    at = random.randint(0, len(value.shape))
    shape = (*value.shape[:at], extra, *value.shape[at:])
    init = builder.empty(shape, value.dtype)
    builder.define(
        f"linalg.broadcast ins({value.name} : {value.type}) outs({init.name} : {init.type}) "
        f"dimensions = [{at}]",
        shape,
        value.dtype,
        [value, init],
        value.spread,
    )


def reverse(builder: Builder) -> None:
    """A copy that reads a dimension backwards, or only its diagonal."""
    value = builder.pick(lambda v: len(v.shape) > 0)
    if value is None:
        return
    axis = builder.random.randrange(len(value.shape))
    same = [d for d, n in enumerate(value.shape) if n == value.shape[axis] and d != axis]
    body = builder.body()
    if same and builder.random.random() < 0.6:
        # Loops for all dimensions but one, which repeats another's.
        kept = [d for d in range(len(value.shape)) if d != axis]
        repeated = kept.index(same[0])
        map_ = ", ".join(
            f"d{repeated}" if d == axis else f"d{kept.index(d)}" for d in range(len(value.shape))
        )
    else:
        kept = list(range(len(value.shape)))
        last = value.shape[axis] - 1
        map_ = ", ".join(f"-d{d} + {max(last, 0)}" if d == axis else f"d{d}" for d in kept)
    shape: Shape = tuple(value.shape[d] for d in kept)
    init = builder.empty(shape, value.dtype)
    builder.generic(
        [(value, map_)],
        [(init, identity(len(kept)))],
        ["parallel"] * len(kept),
        body,
        [Scalar("%i0", value.dtype, value.spread)],
        [value.spread],
    )


def generate(builder: Builder) -> None:
    """`tensor.generate` from the indices."""
    shape = builder.shape()
    if not shape:
        return
    name = builder.fresh()
    names = [f"{name}_g{d}" for d in range(len(shape))]
    arguments = ", ".join(f"{n}: index" for n in names)
    body = builder.body()
    pool = [Scalar(n, "index") for n in names]
    total = (
        body.step(pool[:1])
        if len(pool) == 1
        else body.emit(f"arith.muli {names[0]}, {names[1]} : index", "index")
    )
    scalar = body.cast(total, builder.dtype())
    lines = "\n".join(f"  {line}" for line in body.lines)
    value = Value(name, shape, scalar.dtype, scalar.spread)
    builder.add(
        f"{name} = tensor.generate {{\n^bb0({arguments}):\n{lines}\n"
        f"  tensor.yield {scalar.name} : {scalar.dtype}\n}} : {value.type}",
        [value],
        [],
    )


def constant(builder: Builder) -> None:
    """A small dense constant."""
    random = builder.random
    shape = random.choice([(), (1,), (3,), (2, 3), (4, 1)])
    dtype = builder.dtype()

    def element() -> str:
        if dtype in FLOATS:
            return str(random.choice([0.0, -0.5, 1.25, 3.0, -4.0]))
        most = 7 if dtype == "i4" else 100
        return (
            random.choice(["true", "false"]) if dtype == "i1" else str(random.randint(-most, most))
        )

    def nested(dims: Shape) -> str:
        if not dims:
            return element()
        return f"[{', '.join(nested(dims[1:]) for _ in range(dims[0]))}]"

    spread = Spread(4.0, 0.25) if dtype in FLOATS else Spread()
    builder.define(
        f"arith.constant dense<{nested(shape)}> : {tensor(shape, dtype)}", shape, dtype, [], spread
    )


def extract(builder: Builder) -> None:
    """One element, and a tensor filled with it or made from it and others."""
    value = builder.pick(lambda v: v.size > 0)
    if value is None:
        return
    random = builder.random
    name = builder.fresh()
    indices = [random.randrange(n) for n in value.shape]
    lines = [f"{name}_{d} = arith.constant {i} : index" for d, i in enumerate(indices)]
    names = ", ".join(f"{name}_{d}" for d in range(len(indices)))
    lines.append(f"{name}_x = tensor.extract {value.name}[{names}] : {value.type}")
    if random.random() < 0.5:
        shape = builder.shape()
        result = Value(name, shape, value.dtype, value.spread)
        lines.append(f"{name} = tensor.splat {name}_x : {result.type}")
    else:
        result = Value(name, (2,), value.dtype, value.spread)
        lines.append(f"{name} = tensor.from_elements {name}_x, {name}_x : {result.type}")
    builder.add("\n".join(lines), [result], [value.name])


def diagonal_copy(builder: Builder) -> None:
    """A copy in another order of dimensions, without arithmetic."""
    value = builder.any()
    order = list(range(len(value.shape)))
    builder.random.shuffle(order)
    init = builder.empty(tuple(value.shape[d] for d in order), value.dtype)
    builder.generic(
        [(value, identity(len(order)))],
        [(init, permuted(order))],
        ["parallel"] * len(order),
        builder.body(),
        [Scalar("%i0", value.dtype, value.spread)],
        [value.spread],
    )
