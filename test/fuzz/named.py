"""Steps that write named ops, and rows of them as models do: softmax, layer norm."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.bodies import Body, Scalar
from fuzz.builder import Builder, Operand, identity
from fuzz.structured import clamped, combined
from fuzz.values import FLOATS, INTEGERS, Spread, Value

UNARY = ("exp", "tanh", "negf", "abs", "square", "floor", "ceil")
BINARY = ("add", "sub", "mul", "max", "min")


def unary(builder: Builder) -> None:
    value = builder.any(dtypes=FLOATS)
    value = clamped(builder, value, 4.0)
    name = builder.random.choice(UNARY if value.exact else UNARY[:5])
    body = Body(builder.random)
    scalar = Scalar("%i0", value.dtype, value.spread)
    if name == "square":
        spread = body.mul(scalar, scalar).spread
    elif name in ("exp", "tanh"):
        slope, bound = (55.0, 55.0) if name == "exp" else (1.0, 1.0)
        spread = Spread(bound, None, slope * value.spread.error).fitted(value.dtype, 16.0)
    else:
        spread = value.spread
    if name in ("floor", "ceil"):
        spread = Spread(spread.bound + 1.0, 1.0)
    _named(builder, name, [value], value.dtype, spread)


def binary(builder: Builder) -> None:
    left = builder.any(dtypes=(*FLOATS, *INTEGERS))
    right = builder.like(left.shape, [left.dtype])
    if left.dtype in FLOATS:
        left, right = clamped(builder, left, 16.0), clamped(builder, right, 16.0)
    name = builder.random.choice(BINARY)
    spread = Spread()
    if left.dtype in FLOATS:
        body = Body(builder.random)
        a, b = Scalar("%a", left.dtype, left.spread), Scalar("%b", left.dtype, right.spread)
        if name in ("max", "min"):
            grid = min(a.spread.grid, b.spread.grid) if a.spread.grid and b.spread.grid else None
            error = max(a.spread.error, b.spread.error)
            spread = Spread(max(a.spread.bound, b.spread.bound), grid, error)
        elif name == "mul":
            spread = body.mul(a, b).spread
        else:
            spread = body.add(a, b).spread
    _named(builder, name, [left, right], left.dtype, spread)


def _named(
    builder: Builder, name: str, inputs: Sequence[Value], dtype: str, spread: Spread
) -> Value:
    init = builder.empty(inputs[0].shape, dtype)
    names, types = ", ".join(v.name for v in inputs), ", ".join(v.type for v in inputs)
    return builder.define(
        f"linalg.{name} ins({names} : {types}) outs({init.name} : {init.type}) -> {init.type}",
        init.shape,
        dtype,
        [*inputs, init],
        spread,
    )


def product(builder: Builder) -> None:
    """matmul, its transposed forms, batch_matmul, matvec, vecmat, dot."""
    random = builder.random
    kinds: dict[str, tuple[str, str, str]] = {
        "matmul": ("mk", "kn", "mn"),
        "batch_matmul": ("bmk", "bkn", "bmn"),
        "matvec": ("mk", "k", "m"),
        "vecmat": ("k", "kn", "n"),
        "dot": ("k", "k", ""),
    }
    name = random.choice(list(kinds))
    first, second, out = kinds[name]
    source, target = random.choice(
        [("f32", "f32"), ("f32", "f32"), ("f16", "f32"), ("bf16", "bf16"), ("i8", "i32"),
         ("f16", "f16"), ("i32", "i32")]
    )  # fmt: skip
    left = builder.any(len(first), [source])
    sizes = dict(zip(first, left.shape, strict=True))
    sizes.setdefault("n", random.choice([1, 2, 5, 16, 33, 64]))
    right = builder.like(tuple(sizes[d] for d in second), [source])
    if source in FLOATS:
        left, right = clamped(builder, left, 4.0), clamped(builder, right, 4.0)
    shape = tuple(sizes[d] for d in out)
    init = builder.filled("0.0" if target in FLOATS else "0", shape, target, Spread(0.0, 1.0))
    spread = Spread()
    if target in FLOATS:
        body = Body(random)
        term = body.mul(
            Scalar("%a", target, left.spread), Scalar("%b", target, right.spread)
        ).spread
        spread = combined(term, Spread(0.0, 1.0), "addf", sizes["k"], target)
        if target == "f16" and spread.bound > 3e4:
            return
    builder.define(
        f"linalg.{name} ins({left.name}, {right.name} : {left.type}, {right.type}) "
        f"outs({init.name} : {init.type}) -> {init.type}",
        shape,
        target,
        [left, right, init],
        spread,
    )


def reduce(builder: Builder) -> None:
    """`linalg.reduce` over one or two dimensions."""
    random = builder.random
    value = builder.any(dtypes=("f32", "i32", "i64", "i1"))
    rank = len(value.shape)
    if not rank:
        return
    axes = sorted(random.sample(range(rank), random.randint(1, min(2, rank))))
    shape = tuple(n for d, n in enumerate(value.shape) if d not in axes)
    dtype = value.dtype
    name, literal = {
        "f32": ("arith.maximumf", "0xFF800000"),
        "i32": ("arith.addi", "0"),
        "i64": ("arith.maxsi", str(-(1 << 63))),
        "i1": ("arith.ori", "0"),
    }[dtype]
    init = builder.filled(literal, shape, dtype)
    builder.define(
        f"linalg.reduce {{ {name} }} ins({value.name} : {value.type}) "
        f"outs({init.name} : {init.type}) dimensions = {axes}",
        shape,
        dtype,
        [value, init],
        value.spread,
    )


def softmax(builder: Builder) -> None:
    """exp(x - max) / sum over the last dimension, written as models write it."""
    value = builder.pick(lambda v: v.dtype == "f32" and len(v.shape) in (1, 2, 3) and v.size > 0)
    if value is None or builder.special:
        value = builder.argument(tuple(n or 1 for n in builder.shape(2)), "f32")
    value = clamped(builder, value, 4.0)
    if builder.random.random() < 0.3:
        init = builder.empty(value.shape, "f32")
        builder.define(
            f"linalg.softmax dimension({len(value.shape) - 1}) ins({value.name} : {value.type}) "
            f"outs({init.name} : {init.type}) -> {init.type}",
            value.shape,
            "f32",
            [value, init],
            _softmax_spread(value),
        )
        return
    largest = _row(builder, value, "maximumf", "0xFF800000", value.spread)
    bound = 1.0
    exponent = Spread(bound, None, 3.0 * value.spread.error).fitted("f32", 32.0)
    shifted = _with_row(builder, value, largest, ["subf %i0, %i1", "math.exp"], exponent)
    columns = combined(exponent, Spread(0.0, 1.0), "addf", value.shape[-1], "f32")
    total = _row(builder, shifted, "addf", "0.0", columns)
    _with_row(builder, shifted, total, ["divf %i0, %i1"], _softmax_spread(value))


def _softmax_spread(value: Value) -> Spread:
    columns = value.shape[-1]
    return Spread(1.0, None, 6.0 * value.spread.error).fitted("f32", 64.0 + columns)


def layer_norm(builder: Builder) -> None:
    """(x - mean) / sqrt(variance + 1) over the last dimension."""
    value = builder.pick(lambda v: v.dtype == "f32" and len(v.shape) in (1, 2, 3) and v.size > 0)
    if value is None or builder.special:
        value = builder.argument(tuple(n or 1 for n in builder.shape(2)), "f32")
    value = clamped(builder, value, 4.0)
    columns = value.shape[-1]
    sum_ = _row(
        builder, value, "addf", "0.0", combined(value.spread, Spread(), "addf", columns, "f32")
    )
    mean_error = Spread(8.0, None, 2.0 * value.spread.error).fitted("f32", columns + 4.0)
    centred = _with_row(
        builder, value, sum_, [f"divf %i1, {float(columns)!r}", "subf %i0, %t"], mean_error
    )
    squares = Spread(64.0 * columns, None, 16.0 * columns * mean_error.error).fitted(
        "f32", columns + 1.0
    )
    variance = _row(builder, centred, "addf", "0.0", squares, square=True)
    result = Spread(
        8.0, None, mean_error.error + 8.0 * squares.error / columns
    ).fitted("f32", 16.0)  # fmt: skip
    _with_row(
        builder,
        centred,
        variance,
        [f"divf %i1, {float(columns)!r}", "addf %t, 1.0", "math.rsqrt", "mulf %i0, %t"],
        result,
    )


def _row(
    builder: Builder, value: Value, op: str, literal: str, spread: Spread, square: bool = False
) -> Value:
    """Combine the elements of each row."""
    rank = len(value.shape)
    init = builder.filled(literal, value.shape[:-1], "f32")
    body = builder.body()
    term = "%i0"
    if square:
        term = body.emit("arith.mulf %i0, %i0 : f32", "f32").name
    result = body.emit(f"arith.{op} %o0, {term} : f32", "f32")
    iterators = ["parallel"] * (rank - 1) + ["reduction"]
    outs: list[Operand] = [(init, identity(rank - 1))]
    inputs: list[Operand] = [(value, identity(rank))]
    return builder.generic(inputs, outs, iterators, body, [result], [spread])[0]


def _with_row(
    builder: Builder, value: Value, row: Value, steps: Sequence[str], spread: Spread
) -> Value:
    """Combine each element with its row's; `%t` is the value of the step before."""
    rank = len(value.shape)
    init = builder.empty(value.shape, "f32")
    body = builder.body()
    last = "%i0"
    for step in steps:
        name, _, operands = step.partition(" ")
        if not operands:
            last = body.emit(f"{name} {last} : f32", "f32").name
            continue
        texts = [part.replace("%t", last) for part in operands.split(", ")]
        texts = [t if t[0] == "%" else body.constant("f32", float(t)).name for t in texts]
        last = body.emit(f"arith.{name} {', '.join(texts)} : f32", "f32").name
    inputs: list[Operand] = [(value, identity(rank)), (row, identity(rank - 1))]
    outs: list[Operand] = [(init, identity(rank))]
    iterators = ["parallel"] * rank
    scalar = Scalar(last, "f32", spread)
    return builder.generic(inputs, outs, iterators, body, [scalar], [spread])[0]
