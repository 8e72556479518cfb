"""Steps that write structured ops: elementwise, reductions, contractions, gathers, windows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from fuzz.bodies import Body, Scalar
from fuzz.builder import MOST_ELEMENTS, MOST_ITERATIONS, Builder, Operand, identity, permuted
from fuzz.values import FLOATS, INTEGERS, WIDTH, Spread, Value

Combiner = tuple[str, str]
"""An arith op and the literal of its identity."""


def loops_of(builder: Builder, anchor: Value, most: int = 5) -> tuple[list[int], list[int]]:
    """Loop sizes in a random order, and the loop of each dimension of `anchor`."""
    sizes = list(anchor.shape)
    if len(sizes) < most and builder.random.random() < 0.35:
        sizes.append(builder.random.choice([1, 2, 3, 4, 5, 7]))
    if prod(sizes) > MOST_ELEMENTS:
        sizes = list(anchor.shape)
    order = list(range(len(sizes)))
    builder.random.shuffle(order)
    shuffled = [sizes[d] for d in order]
    return shuffled, [order.index(d) for d in range(len(anchor.shape))]


def other_inputs(builder: Builder, sizes: Sequence[int], count: int) -> list[Operand]:
    """Operands that some map reads within the loops."""
    operands: list[Operand] = []
    for _ in range(count):
        value = builder.pick()
        map_ = builder.map_for(value.shape, sizes) if value is not None else None
        if value is None or map_ is None or builder.random.random() < 0.3:
            kept = [d for d in range(len(sizes)) if builder.random.random() < 0.6]
            builder.random.shuffle(kept)
            value = builder.argument(tuple(sizes[d] for d in kept), builder.dtype())
            map_ = permuted(kept)
        operands.append((value, map_))
    return operands


def expression(
    builder: Builder,
    body: Body,
    inputs: Sequence[Operand],
    rank: int,
    indices: bool = True,
    captured: list[Value] | None = None,
) -> list[Scalar]:
    """All values of a random body: the inputs, and what is computed from them."""
    random = builder.random
    pool = builder.scalars(inputs)
    if rank and indices and random.random() < 0.2:
        dim = random.randrange(rank)
        pool.append(body.emit(f"linalg.index {dim} : index", "index"))
    if captured is not None and random.random() < 0.2:
        pool.append(_gathered(builder, body, pool, captured))
    if not pool:
        pool.append(body.constant(builder.dtype()))
    for _ in range(random.randint(1, 5)):
        pool.append(body.step(pool))
    return pool


def _gathered(
    builder: Builder, body: Body, pool: Sequence[Scalar], captured: list[Value]
) -> Scalar:
    """An element of a captured tensor at indices clamped into it."""
    source = builder.pick(lambda v: v.size > 0 and len(v.shape) <= 3)
    if source is None:
        source = builder.argument(builder.shape(2), "f32")
        if not source.size:
            return body.constant("f32")
    captured.append(source)
    indices: list[str] = []
    whole = [s for s in pool if s.dtype in (*INTEGERS, "index")]
    for extent in source.shape:
        if not whole or builder.random.random() < 0.2:
            position = builder.random.randrange(extent)
            indices.append(body.emit(f"arith.constant {position} : index", "index").name)
            continue
        index = builder.random.choice(whole)
        if index.dtype != "index":
            index = body.emit(f"arith.index_cast {index.name} : {index.dtype} to index", "index")
        low = body.emit("arith.constant 0 : index", "index")
        high = body.emit(f"arith.constant {extent - 1} : index", "index")
        above = body.emit(f"arith.maxsi {index.name}, {low.name} : index", "index")
        inside = body.emit(f"arith.minsi {above.name}, {high.name} : index", "index")
        indices.append(inside.name)
    return body.emit(
        f"tensor.extract {source.name}[{', '.join(indices)}] : {source.type}",
        source.dtype,
        source.spread,
    )


def last_of(builder: Builder, body: Body, pool: Sequence[Scalar]) -> Scalar:
    """A value to yield: a late one that is no index."""
    value = builder.random.choice(list(pool[-3:]))
    return body.cast(value, builder.dtype()) if value.dtype == "index" else value


def elementwise(builder: Builder) -> None:
    """A generic with parallel loops and one to three results."""
    random = builder.random
    anchor = builder.any()
    sizes, where = loops_of(builder, anchor)
    inputs: list[Operand] = [(anchor, permuted(where))]
    inputs += other_inputs(builder, sizes, random.choice([0, 0, 1, 1, 2, 3]))
    random.shuffle(inputs)
    body, captured = builder.body(), list[Value]()
    pool = expression(builder, body, inputs, len(sizes), captured=captured)
    yields = [last_of(builder, body, pool) for _ in range(random.choice([1, 1, 1, 2, 3]))]
    outs: list[Operand] = []
    for scalar in yields:
        order = list(range(len(sizes)))
        if random.random() < 0.4:
            random.shuffle(order)
        init = builder.empty(tuple(sizes[d] for d in order), scalar.dtype)
        outs.append((init, permuted(order)))
    spreads = [s.spread for s in yields]
    builder.generic(inputs, outs, ["parallel"] * len(sizes), body, yields, spreads, captured)


def combiners(dtype: str) -> list[Combiner]:
    """The ops that may combine elements of a type, with their identities."""
    if dtype in FLOATS:
        low, high = {
            "f32": ("0xFF800000", "0x7F800000"),
            "f16": ("0xFC00", "0x7C00"),
            "bf16": ("0xFF80", "0x7F80"),
        }[dtype]
        return [
            ("addf", "0.0"), ("addf", "0.0"), ("addf", "0.0"), ("maximumf", low),
            ("minimumf", high), ("maxnumf", low), ("minnumf", high), ("mulf", "1.0"),
        ]  # fmt: skip
    if dtype == "i1":
        return [("andi", "1"), ("ori", "0"), ("xori", "0")]
    width = WIDTH[dtype]
    least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
    return [
        ("addi", "0"), ("muli", "1"), ("maxsi", str(least)), ("minsi", str(most)),
        ("maxui", "0"), ("minui", "-1"), ("andi", "-1"), ("ori", "0"), ("xori", "0"),
    ]  # fmt: skip


def combined(term: Spread, init: Spread, op: str, count: int, dtype: str) -> Spread:
    """The spread of `count` terms combined onto `init`."""
    grid = min(term.grid, init.grid) if term.grid and init.grid else None
    error = max(term.error, init.error)
    if op != "addf":
        return Spread(max(term.bound, init.bound), grid, error)
    bound = init.bound + count * term.bound
    spread = Spread(bound, grid, init.error + count * term.error)
    return spread.fitted(dtype, roundings=count + 1.0)


def reduction(builder: Builder) -> None:
    """A generic that combines the values of a random body along some loops."""
    random = builder.random
    anchor = builder.any()
    sizes, where = loops_of(builder, anchor, most=len(anchor.shape))
    if not sizes:
        return
    reduced = {d for d in range(len(sizes)) if random.random() < 0.5} or {0}
    inputs: list[Operand] = [(anchor, permuted(where))]
    inputs += other_inputs(builder, sizes, random.choice([0, 0, 0, 1]))
    body, captured = builder.body(), list[Value]()
    pool = expression(builder, body, inputs, len(sizes), captured=captured)
    term = last_of(builder, body, pool)
    if random.random() < 0.3:
        term = body.cast(term, {"f16": "f32", "bf16": "f32", "i8": "i32"}.get(term.dtype, "f32"))
    count = prod([sizes[d] for d in reduced])
    kept = [d for d in range(len(sizes)) if d not in reduced]
    random.shuffle(kept)
    _reduce(builder, inputs, body, term, kept, sizes, count, captured)


def _reduce(
    builder: Builder,
    inputs: Sequence[Operand],
    body: Body,
    term: Scalar,
    kept: Sequence[int],
    sizes: Sequence[int],
    count: int,
    captured: Sequence[Value] = (),
) -> None:
    random, dtype = builder.random, term.dtype
    op, literal = random.choice(combiners(dtype))
    if op == "mulf":
        term = sign(body, term)
    if dtype in FLOATS and op == "addf":
        term = body.bounded(term, 64.0 if dtype != "f16" else 4.0)
    shape = tuple(sizes[d] for d in kept)
    start = Spread(0.0, 1.0)
    existing = builder.pick(lambda v: v.shape == shape and v.dtype == dtype)
    if existing is not None and random.random() < 0.4:
        init, start = existing, existing.spread
    else:
        init = builder.filled(literal, shape, dtype, start)
    order = ("%o0", term.name) if random.random() < 0.7 else (term.name, "%o0")
    result = body.emit(f"arith.{op} {order[0]}, {order[1]} : {dtype}", dtype)
    spread = combined(term.spread, start, op, count, dtype) if dtype in FLOATS else Spread()
    iterators = ["parallel" if d in kept else "reduction" for d in range(len(sizes))]
    builder.generic(inputs, [(init, permuted(kept))], iterators, body, [result], [spread], captured)


def sign(body: Body, value: Scalar) -> Scalar:
    """1 or -1 in the type of a float, so that a product of many has no error and stays small."""
    if not value.exact:
        return body.constant(value.dtype, -1.0)
    zero, one = body.constant(value.dtype, 0.0), body.constant(value.dtype, 1.0)
    below = body.emit(f"arith.cmpf olt, {value.name}, {zero.name} : {value.dtype}", "i1")
    minus = body.constant(value.dtype, -1.0)
    return body.emit(
        f"arith.select {below.name}, {minus.name}, {one.name} : {value.dtype}",
        value.dtype,
        Spread(1.0, 1.0),
    )


def argmax(builder: Builder) -> None:
    """The largest or smallest element of each row and where it is: a pair that is reduced."""
    random = builder.random
    value = builder.pick(lambda v: v.exact and v.dtype != "i1" and len(v.shape) > 0)
    if value is None:
        value = builder.argument(builder.shape(2), random.choice([*FLOATS, *INTEGERS[1:]]))
    rank, dtype = len(value.shape), value.dtype
    axis = random.randrange(rank)
    kept = [d for d in range(rank) if d != axis]
    shape = tuple(value.shape[d] for d in kept)
    index = random.choice(["i32", "i64"])
    body = builder.body()
    position = body.emit(f"linalg.index {axis} : index", "index")
    place = body.emit(f"arith.index_cast {position.name} : index to {index}", index)
    largest = random.random() < 0.5
    if dtype in FLOATS:
        better = f"arith.cmpf {'ogt' if largest else 'olt'}, %i0, %o0 : {dtype}"
        literal = dict(combiners(dtype))["maximumf" if largest else "minimumf"]
    else:
        better = f"arith.cmpi {'sgt' if largest else 'slt'}, %i0, %o0 : {dtype}"
        literal = dict(combiners(dtype))["maxsi" if largest else "minsi"]
    wins = body.emit(better, "i1")
    best = body.emit(f"arith.select {wins.name}, %i0, %o0 : {dtype}", dtype)
    where = body.emit(f"arith.select {wins.name}, {place.name}, %o1 : {index}", index)
    outs: list[Operand] = [
        (builder.filled(literal, shape, dtype), permuted(kept)),
        (builder.filled("0", shape, index), permuted(kept)),
    ]
    iterators = ["reduction" if d == axis else "parallel" for d in range(rank)]
    builder.generic(
        [(value, identity(rank))], outs, iterators, body, [best, where], [value.spread, Spread()]
    )


def fold(builder: Builder) -> None:
    """A reduction in order: its body is no op that could be applied in another."""
    random = builder.random
    value = builder.any(dtypes=INTEGERS[1:])
    rank, dtype = len(value.shape), value.dtype
    if not rank:
        return
    axis = random.randrange(rank)
    kept = [d for d in range(rank) if d != axis]
    init = builder.filled("1", tuple(value.shape[d] for d in kept), dtype)
    body = builder.body()
    amount = body.constant(dtype, random.choice([1, 2, 3]))
    first = random.choice(["shli", "muli", "subi", "shrui"])
    second = random.choice(["addi", "subi", "xori", "maxsi"])
    scaled = body.emit(f"arith.{first} %o0, {amount.name} : {dtype}", dtype)
    total = body.emit(f"arith.{second} {scaled.name}, %i0 : {dtype}", dtype)
    iterators = ["reduction" if d == axis else "parallel" for d in range(rank)]
    inputs, outs = [(value, identity(rank))], [(init, permuted(kept))]
    builder.generic(inputs, outs, iterators, body, [total], [Spread()])


PRODUCTS = (
    ("f32", "f32"), ("f32", "f32"), ("f32", "f32"), ("f16", "f32"), ("bf16", "f32"),
    ("f16", "f16"), ("bf16", "bf16"), ("i8", "i32"), ("i32", "i32"), ("i16", "i64"), ("i1", "i32"),
    ("i4", "i32"),
)  # fmt: skip
"""Element types of the factors and of the sum."""


def contraction(builder: Builder) -> None:
    """A product of two operands in any order of their dimensions, with a prologue and a batch."""
    random = builder.random
    source, target = random.choice(PRODUCTS)
    left = builder.any(random.choice([1, 2, 2, 3]), [source])
    roles = [random.choice("bmkk") for _ in left.shape]
    if "k" not in roles:
        roles[random.randrange(len(roles))] = "k"
    sizes = list(left.shape)
    columns = [random.choice([1, 2, 3, 5, 8, 16, 33])] if random.random() < 0.8 else []
    if prod([*sizes, *columns]) > MOST_ITERATIONS:
        columns = []
    first = list(range(len(sizes)))
    second = [d for d in first if roles[d] in "bk"] + [len(sizes) + i for i in range(len(columns))]
    sizes += columns
    random.shuffle(second)
    kept = [d for d in first if roles[d] in "bm"] + list(range(len(first), len(sizes)))
    if random.random() < 0.3:
        random.shuffle(kept)
    right = builder.like(tuple(sizes[d] for d in second), [source])
    body = builder.body()
    factors: list[Scalar] = []
    inputs: list[Operand] = [(left, permuted(first)), (right, permuted(second))]
    for factor in builder.scalars(inputs):
        value = body.bounded(factor, 8.0)
        if random.random() < 0.2:
            value = body.bounded(body.step([value]), 8.0)
        factors.append(body.cast(value, target))
    product = (
        body.mul(*factors)
        if target in FLOATS
        else body.emit(f"arith.muli {factors[0].name}, {factors[1].name} : {target}", target)
    )
    count = prod([sizes[d] for d in first if roles[d] == "k"])
    shape = tuple(sizes[d] for d in kept)
    init = builder.filled("0.0" if target in FLOATS else "0", shape, target, Spread(0.0, 1.0))
    name = "addf" if target in FLOATS else "addi"
    total = body.emit(f"arith.{name} %o0, {product.name} : {target}", target)
    spread = combined(product.spread, init.spread, name, count, target)
    iterators = ["parallel" if d in kept else "reduction" for d in range(len(sizes))]
    if target == "f16" and spread.bound > 3e4:
        return
    builder.generic(inputs, [(init, permuted(kept))], iterators, body, [total], [spread])


def window(builder: Builder) -> None:
    """A pooling or a one-dimensional convolution: loops whose sum indexes the input."""
    random = builder.random
    value = builder.any(random.choice([1, 2, 3]))
    axis = random.randrange(len(value.shape))
    extent = value.shape[axis]
    width, stride = random.choice([1, 2, 3, 5]), random.choice([1, 1, 2, 3])
    if extent < width:
        return
    steps = (extent - width) // stride + 1
    rank = len(value.shape)
    sizes = [steps if d == axis else n for d, n in enumerate(value.shape)] + [width]
    if prod(sizes) > MOST_ITERATIONS:
        return
    index = f"d{axis} * {stride} + d{rank}" if stride > 1 else f"d{axis} + d{rank}"
    map_ = ", ".join(index if d == axis else f"d{d}" for d in range(rank))
    weights = builder.like((width,), [value.dtype])
    body = builder.body()
    inputs: list[Operand] = [(value, map_), (weights, f"d{rank}")]
    term, weight = builder.scalars(inputs)
    if random.random() < 0.5:
        if value.dtype in FLOATS:
            term = body.mul(body.bounded(term, 8.0), body.bounded(weight, 8.0))
        elif value.dtype != "i1":
            term = body.emit(f"arith.muli %i0, %i1 : {value.dtype}", value.dtype)
    _reduce(builder, inputs, body, term, list(range(rank)), sizes, width)


def clamped(builder: Builder, value: Value, bound: float) -> Value:
    """The value with its elements clamped, when they can be larger."""
    if value.spread.bound <= bound:
        return value
    rank = len(value.shape)
    body = builder.body()
    result = body.bounded(Scalar("%i0", value.dtype, value.spread), bound)
    out = builder.empty(value.shape, value.dtype)
    inputs, outs = [(value, identity(rank))], [(out, identity(rank))]
    iterators = ["parallel"] * rank
    return builder.generic(inputs, outs, iterators, body, [result], [result.spread])[0]
