"""Steps that choose or order places: gathers, scatters, sorts, scans, tiles, windows."""

from __future__ import annotations

from math import prod

from fuzz.bodies import CMPI, Body, Scalar
from fuzz.builder import Builder
from fuzz.movement import joined
from fuzz.structured import combined
from fuzz.values import FLOATS, INTEGERS, Shape, Spread, Value, tensor


def _places(builder: Builder, shape: Shape, extents: tuple[int, ...], dtype: str) -> str:
    """A dense constant of `shape` whose last dimension counts within `extents`."""
    random = builder.random

    def nested(dims: Shape) -> str:
        if len(dims) == 1:
            return f"[{', '.join(str(random.randrange(n)) for n in extents)}]"
        return f"[{', '.join(nested(dims[1:]) for _ in range(dims[0]))}]"

    return f"arith.constant dense<{nested(shape)}> : {tensor(shape, dtype)}"


def gather(builder: Builder) -> None:
    """`tensor.gather` of rows, columns or elements."""
    random = builder.random
    value = builder.pick(lambda v: v.size > 0 and 0 < len(v.shape) <= 3)
    if value is None:
        return
    rank = len(value.shape)
    dims = sorted(random.sample(range(rank), random.randint(1, min(rank, 2))))
    batch = random.choice([(1,), (3,), (2, 3), (5,)])
    dtype = random.choice(["i32", "i64", "index"])
    indices = (*batch, len(dims))
    kept = tuple(n for d, n in enumerate(value.shape) if d not in dims)
    if random.random() < 0.3:
        kept = tuple(1 if d in dims else n for d, n in enumerate(value.shape))
    shape = (*batch, *kept)
    name = builder.fresh()
    places = _places(builder, indices, tuple(value.shape[d] for d in dims), dtype)
    result = Value(name, shape, value.dtype, value.spread)
    builder.add(
        f"{name}_i = {places}\n"
        f"{name} = tensor.gather {value.name}[{name}_i] gather_dims({dims}) : "
        f"({value.type}, {tensor(indices, dtype)}) -> {result.type}",
        [result],
        [value.name],
    )


def scatter(builder: Builder) -> None:
    """Updates combined into rows, several of them into the same row."""
    random = builder.random
    into = builder.any(random.choice([1, 2]), dtypes=INTEGERS[1:])
    if not into.size:
        return
    count = random.choice([1, 3, 8, 33])
    updates = builder.argument((count, *into.shape[1:]), into.dtype)
    kind = random.choice(["addi", "maxsi", "minui", "xori", "andi"])
    name = builder.fresh()
    result = Value(name, into.shape, into.dtype)
    places = _places(builder, (count, 1), into.shape[:1], "i32")
    builder.add(
        f"{name}_i = {places}\n"
        f"{name} = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) "
        f"ins({updates.name}, {name}_i : {updates.type}, {tensor((count, 1), 'i32')}) "
        f"outs({into.name} : {into.type}) {{\n"
        f"^bb0({name}_u: {into.dtype}, {name}_o: {into.dtype}):\n"
        f"  {name}_n = arith.{kind} {name}_o, {name}_u : {into.dtype}\n"
        f"  iree_linalg_ext.yield {name}_n : {into.dtype}\n}} -> {into.type}",
        [result],
        [updates.name, into.name],
    )


def moved_slice(builder: Builder) -> None:
    """A slice cut out, or written over, at an offset that is read from a tensor."""
    random = builder.random
    value = builder.pick(lambda v: v.size > 0 and 0 < len(v.shape) <= 3)
    if value is None:
        return
    axis = random.randrange(len(value.shape))
    source = builder.like((), ["i32"])
    sizes = [random.randint(1, n) for n in value.shape]
    most = value.shape[axis] - sizes[axis]
    name = builder.fresh()
    offsets = ", ".join(f"{name}_at" if d == axis else "0" for d in range(len(sizes)))
    ones = [1] * len(sizes)
    lines = [
        f"{name}_x = tensor.extract {source.name}[] : {source.type}",
        f"{name}_y = arith.index_cast {name}_x : i32 to index",
        f"{name}_low = arith.constant 0 : index",
        f"{name}_high = arith.constant {most} : index",
        f"{name}_z = arith.maxsi {name}_y, {name}_low : index",
        f"{name}_at = arith.minsi {name}_z, {name}_high : index",
    ]
    shape = tuple(sizes)
    if random.random() < 0.5:
        result = Value(name, shape, value.dtype, value.spread)
        lines.append(
            f"{name} = tensor.extract_slice {value.name}[{offsets}] {sizes} {ones} : "
            f"{value.type} to {result.type}"
        )
        operands = [source.name, value.name]
    else:
        new = builder.argument(shape, value.dtype)
        result = Value(name, value.shape, value.dtype, joined(value.spread, new.spread))
        lines.append(
            f"{name} = tensor.insert_slice {new.name} into {value.name}[{offsets}] {sizes} {ones}"
            f" : {new.type} into {value.type}"
        )
        operands = [source.name, value.name, new.name]
    builder.add("\n".join(lines), [result], operands)


def insert(builder: Builder) -> None:
    """One element of a tensor written into another."""
    value = builder.pick(lambda v: v.size > 0)
    if value is None:
        return
    random = builder.random
    into = builder.any(dtypes=[value.dtype])
    if not into.size:
        return
    name = builder.fresh()
    places = [
        [random.randrange(n) for n in value.shape],
        [random.randrange(n) for n in into.shape],
    ]
    lines, names = list[str](), list[str]()
    for which, indices in enumerate(places):
        lines += [f"{name}_{which}_{d} = arith.constant {i} : index" for d, i in enumerate(indices)]
        names.append(", ".join(f"{name}_{which}_{d}" for d in range(len(indices))))
    result = Value(name, into.shape, into.dtype, joined(value.spread, into.spread))
    lines.append(f"{name}_x = tensor.extract {value.name}[{names[0]}] : {value.type}")
    lines.append(f"{name} = tensor.insert {name}_x into {into.name}[{names[1]}] : {into.type}")
    builder.add("\n".join(lines), [result], [value.name, into.name])


def _exact(value: Value) -> bool:
    return value.exact and value.dtype not in ("i1", "i4") and 0 < len(value.shape) <= 3


def sort(builder: Builder) -> None:
    """`iree_linalg_ext.sort` by any order of integers or of floats without NaN."""
    random = builder.random
    value = builder.pick(
        lambda v: _exact(v) and v.size <= 2000 and not (builder.special and v.dtype in FLOATS)
    )
    if value is None:
        value = builder.argument((random.choice([1, 2, 5, 16, 33]),), random.choice(INTEGERS[1:]))
    axis = random.randrange(len(value.shape))
    if value.dtype in FLOATS:
        order = f"arith.cmpf {random.choice(['olt', 'ogt'])}"
    else:
        order = f"arith.cmpi {random.choice([p for p in CMPI if p[1:] in ('lt', 'gt')])}"
    name = builder.fresh()
    builder.add(
        f"{name} = iree_linalg_ext.sort dimension({axis}) outs({value.name} : {value.type}) {{\n"
        f"^bb0({name}_a: {value.dtype}, {name}_b: {value.dtype}):\n"
        f"  {name}_c = {order}, {name}_a, {name}_b : {value.dtype}\n"
        f"  iree_linalg_ext.yield {name}_c : i1\n}} -> {value.type}",
        [Value(name, value.shape, value.dtype, value.spread)],
        [value.name],
    )


def scan(builder: Builder) -> None:
    """A running sum or maximum, with or without the element itself."""
    random = builder.random
    value = builder.pick(lambda v: _exact(v) and v.size > 0)
    if value is None:
        value = builder.argument(
            (random.choice([1, 3, 64, 257]),), random.choice(("f32", *INTEGERS[1:]))
        )
    axis = random.randrange(len(value.shape))
    floats = value.dtype in FLOATS
    kind = random.choice(
        ["addf", "maximumf"] if floats else ["addi", "muli", "maxui", "minsi", "xori"]
    )
    if kind == "addf" and value.spread.bound > 64.0:
        return
    inner = tuple(n for d, n in enumerate(value.shape) if d != axis)
    dtype = value.dtype
    init = builder.filled("0.0" if floats else "0", inner, dtype, Spread(0.0, 1.0))
    out = builder.empty(value.shape, dtype)
    spread = Spread()
    if floats:
        spread = combined(value.spread, Spread(0.0, 1.0), kind, value.shape[axis] + 1, dtype)
    if dtype == "f16" and spread.bound > 3e4:
        return
    inclusive = random.choice(["true", "false"])
    name = builder.fresh()
    results = [
        Value(f"{name}#0", value.shape, dtype, spread),
        Value(f"{name}#1", inner, dtype, spread),
    ]
    builder.add(
        f"{name}:2 = iree_linalg_ext.scan dimension({axis}) inclusive({inclusive}) "
        f"ins({value.name} : {value.type}) outs({out.name}, {init.name} : {out.type}, {init.type}) "
        f"{{\n^bb0({name}_a: {dtype}, {name}_b: {dtype}):\n"
        f"  {name}_c = arith.{kind} {name}_a, {name}_b : {dtype}\n"
        f"  iree_linalg_ext.yield {name}_c : {dtype}\n}} -> {out.type}, {init.type}",
        results,
        [value.name, out.name, init.name],
    )


def pack(builder: Builder) -> None:
    """`linalg.pack` into tiles, and sometimes back."""
    random = builder.random
    value = builder.pick(lambda v: v.size > 0 and 0 < len(v.shape) <= 2)
    if value is None:
        return
    rank = len(value.shape)
    tiles = [random.choice([1, 2, 3, 4]) for _ in range(rank)]
    outer = [-(-n // t) for n, t in zip(value.shape, tiles, strict=True)]
    padded = any(n % t for n, t in zip(value.shape, tiles, strict=True))
    order = list(range(rank))
    random.shuffle(order)
    shape = (*(outer[d] for d in order), *tiles)
    dtype = value.dtype
    out = builder.empty(shape, dtype)
    name = builder.fresh()
    number = "true" if dtype == "i1" else "3.0" if dtype in FLOATS else "3"
    literal = number if dtype == "i1" else f"{number} : {dtype}"
    padding = f"padding_value({name}_p : {dtype}) " if padded else ""
    how = (
        f"outer_dims_perm = {order} inner_dims_pos = {list(range(rank))} inner_tiles = {tiles} into"
    )
    packed = Value(name, shape, dtype, joined(value.spread, Spread(3.0, 1.0)))
    builder.add(
        f"{name}_p = arith.constant {literal}\n"
        f"{name} = linalg.pack {value.name} {padding}{how} {out.name} : {value.type} -> {out.type}",
        [packed],
        [value.name, out.name],
    )
    if random.random() < 0.4:
        back = builder.empty(value.shape, dtype)
        builder.define(
            f"linalg.unpack {name} {how} {back.name} : {out.type} -> {back.type}",
            value.shape,
            dtype,
            [packed, back],
            packed.spread,
        )


BITS = {"f32": "i32", "f16": "i16", "bf16": "i16"}


def bitcast(builder: Builder) -> None:
    """The bits of an argument, whose zeros all have one sign, as integers."""
    value = builder.any(dtypes=tuple(BITS))
    if value not in builder.arguments or builder.special:
        return
    dtype = BITS[value.dtype]
    result = tensor(value.shape, dtype)
    builder.define(
        f"tensor.bitcast {value.name} : {value.type} to {result}", value.shape, dtype, [value]
    )


CONVOLUTIONS = {
    "conv_2d_nhwc_hwcf": ("nhwc", "hwcf", "nhwf"),
    "conv_2d_nchw_fchw": ("nchw", "fchw", "nfhw"),
    "depthwise_conv_2d_nhwc_hwc": ("nhwc", "hwc", "nhwc"),
    "pooling_nhwc_sum": ("nhwc", "hw", "nhwc"),
    "pooling_nhwc_max": ("nhwc", "hw", "nhwc"),
    "pooling_nchw_max": ("nchw", "hw", "nchw"),
}


def convolution(builder: Builder) -> None:
    """A named convolution or pooling in two dimensions, with strides and dilations."""
    random = builder.random
    name = random.choice(list(CONVOLUTIONS))
    image, window, out = CONVOLUTIONS[name]
    strides, dilations = ([random.choice([1, 1, 2]) for _ in "hw"] for _ in range(2))
    kernel = {"h": random.choice([1, 2, 3]), "w": random.choice([1, 2, 3])}
    sizes = {
        "n": random.choice([1, 2]),
        "c": random.choice([1, 3, 4]),
        "f": random.choice([1, 2, 5]),
        "h": random.choice([5, 7, 8]),
        "w": random.choice([5, 6, 9]),
    }
    results = dict(sizes)
    for d, stride, dilation in zip("hw", strides, dilations, strict=True):
        results[d] = (sizes[d] - dilation * (kernel[d] - 1) - 1) // stride + 1
    dtype = random.choice(["f32", "f32", "f16", "i32"])
    source = builder.like(tuple(sizes[d] for d in image), [dtype])
    if dtype in FLOATS and source.spread.bound > 8.0:
        source = builder.argument(source.shape, dtype)
    kernels = tuple({**sizes, **kernel}[d] for d in window)
    pooling = name.startswith("pooling")
    weights = builder.argument(kernels, dtype)
    shape = tuple(results[d] for d in out)
    largest = name.endswith("max")
    literal = {"f32": "0xFF800000", "f16": "0xFC00"}.get(dtype, str(-(1 << 31)))
    if not largest:
        literal = "0.0" if dtype in FLOATS else "0"
    start = Spread(0.0, 1.0)
    init = builder.filled(literal, shape, dtype, start)
    spread = Spread()
    if dtype in FLOATS:
        term = source.spread
        if not pooling:
            term = (
                Body(random)
                .mul(Scalar("%a", dtype, source.spread), Scalar("%b", dtype, weights.spread))
                .spread
            )
        count = prod(kernel.values()) * (sizes["c"] if name.startswith("conv") else 1)
        spread = combined(term, start, "maximumf" if largest else "addf", count, dtype)
        if dtype == "f16" and spread.bound > 3e4:
            return
    builder.define(
        f"linalg.{name} {{dilations = dense<{dilations}> : tensor<2xi64>, "
        f"strides = dense<{strides}> : tensor<2xi64>}} "
        f"ins({source.name}, {weights.name} : {source.type}, {weights.type}) "
        f"outs({init.name} : {init.type}) -> {init.type}",
        shape,
        dtype,
        [source, weights, init],
        spread,
    )
