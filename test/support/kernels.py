"""Programs of any shape, as text: the kinds of kernels that every model has."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]


def tensor(shape: Shape, element: str = "f32") -> str:
    """`tensor<4x8xf32>`."""
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def affine_map(rank: int, results: Sequence[int]) -> str:
    """The map that picks the dimensions `results`."""
    dims = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({dims}) -> ({', '.join(f'd{i}' for i in results)})>"


def generic(
    result: str,
    inputs: Sequence[tuple[str, str, Sequence[int]]],
    init: tuple[str, str, Sequence[int]],
    iterators: Sequence[str],
    body: str,
    element: str = "f32",
) -> str:
    """A `linalg.generic`: values as (name, type, dimensions of its map); `%0`, ... and `%acc`."""
    rank = len(iterators)
    maps = ", ".join(affine_map(rank, dims) for _, _, dims in (*inputs, init))
    kinds = ", ".join(f'"{kind}"' for kind in iterators)
    names = ", ".join(name for name, _, _ in inputs)
    types = ", ".join(type_ for _, type_, _ in inputs)
    arguments = ", ".join(
        [
            *(
                f"%i{n}: {t.split('x')[-1].rstrip('>').removeprefix('tensor<')}"
                for n, (_, t, _) in enumerate(inputs)
            ),
            f"%acc: {element}",
        ]
    )
    ins = f"ins({names} : {types}) " if inputs else ""
    return f"""  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      {ins}outs({init[0]} : {init[1]}) {{
  ^bb0({arguments}):
{body}
  }} -> {init[1]}
"""


def fill(result: str, value: str, shape: Shape) -> str:
    """A constant and a `linalg.fill` of an f32 tensor with it."""
    type_ = tensor(shape)
    return f"""  {result}_c = arith.constant {value} : f32
  {result}_e = tensor.empty() : {type_}
  {result} = linalg.fill ins({result}_c : f32) outs({result}_e : {type_}) -> {type_}
"""


def empty(result: str, shape: Shape, element: str = "f32") -> str:
    """A `tensor.empty`."""
    return f"  {result} = tensor.empty() : {tensor(shape, element)}\n"


def function(arguments: Sequence[Shape], body: str, result: str, shape: Shape) -> str:
    """`@main` over f32 tensors `%a0`, `%a1`, ..."""
    names = ", ".join(f"%a{n}: {tensor(s)}" for n, s in enumerate(arguments))
    type_ = tensor(shape)
    return f"func.func @main({names}) -> {type_} {{\n{body}  return {result} : {type_}\n}}\n"


def _identity(shape: Shape) -> list[int]:
    return list(range(len(shape)))


def _parallel(shape: Shape) -> list[str]:
    return ["parallel"] * len(shape)


def elementwise(shape: Shape) -> str:
    """tanh(x * y) + x."""
    dims = _identity(shape)
    body = """    %p = arith.mulf %i0, %i1 : f32
    %t = math.tanh %p : f32
    %r = arith.addf %t, %i0 : f32
    linalg.yield %r : f32"""
    type_ = tensor(shape)
    return function(
        [shape, shape],
        empty("%e", shape)
        + generic(
            "%r",
            [("%a0", type_, dims), ("%a1", type_, dims)],
            ("%e", type_, dims),
            _parallel(shape),
            body,
        ),
        "%r",
        shape,
    )


def broadcast(shape: Shape, kept: Sequence[int]) -> str:
    """x plus a tensor of only the dimensions `kept`."""
    small = [shape[d] for d in kept]
    dims = _identity(shape)
    body = "    %r = arith.addf %i0, %i1 : f32\n    linalg.yield %r : f32"
    return function(
        [shape, small],
        empty("%e", shape)
        + generic(
            "%r",
            [("%a0", tensor(shape), dims), ("%a1", tensor(small), kept)],
            ("%e", tensor(shape), dims),
            _parallel(shape),
            body,
        ),
        "%r",
        shape,
    )


def _reduce(result: str, source: str, shape: Shape, kept: Sequence[int], op: str, init: str) -> str:
    small = [shape[d] for d in kept]
    iterators = ["parallel" if d in kept else "reduction" for d in range(len(shape))]
    body = f"    %r = arith.{op} %i0, %acc : f32\n    linalg.yield %r : f32"
    return fill(f"{result}_i", init, small) + generic(
        result,
        [(source, tensor(shape), _identity(shape))],
        (f"{result}_i", tensor(small), kept),
        iterators,
        body,
    )


def reduction(shape: Shape, kept: Sequence[int], op: str = "addf") -> str:
    """The sum or the maximum over all dimensions that are not `kept`."""
    init = "0.0" if op == "addf" else "0xFF800000"
    body = _reduce("%r", "%a0", shape, kept, op, init)
    return function([shape], body, "%r", [shape[d] for d in kept])


def transpose(shape: Shape, permutation: Sequence[int]) -> str:
    """`linalg.transpose`."""
    result = [shape[p] for p in permutation]
    body = empty("%e", result) + (
        f"  %r = linalg.transpose ins(%a0 : {tensor(shape)}) outs(%e : {tensor(result)}) "
        f"permutation = [{', '.join(map(str, permutation))}]\n"
    )
    return function([shape], body, "%r", result)


def matmul(m: int, n: int, k: int) -> str:
    """`linalg.matmul`."""
    return _product("matmul", [m, k], [k, n], [m, n])


def batch_matmul(b: int, m: int, n: int, k: int) -> str:
    """`linalg.batch_matmul`."""
    return _product("batch_matmul", [b, m, k], [b, k, n], [b, m, n])


def _product(op: str, left: Shape, right: Shape, result: Shape) -> str:
    body = fill("%z", "0.0", result) + (
        f"  %r = linalg.{op} ins(%a0, %a1 : {tensor(left)}, {tensor(right)}) "
        f"outs(%z : {tensor(result)}) -> {tensor(result)}\n"
    )
    return function([left, right], body, "%r", result)


def softmax(rows: int, columns: int) -> str:
    """exp(x - max) / sum over each row."""
    shape, dims, row = [rows, columns], [0, 1], [0]
    full, column = tensor(shape), tensor([rows])
    text = _reduce("%m", "%a0", shape, row, "maximumf", "0xFF800000") + empty("%e", shape)
    text += generic(
        "%x",
        [("%a0", full, dims), ("%m", column, row)],
        ("%e", full, dims),
        ["parallel"] * 2,
        "    %d = arith.subf %i0, %i1 : f32\n    %r = math.exp %d : f32\n    linalg.yield %r : f32",
    )
    text += _reduce("%s", "%x", shape, row, "addf", "0.0")
    text += generic(
        "%r",
        [("%x", full, dims), ("%s", column, row)],
        ("%e", full, dims),
        ["parallel"] * 2,
        "    %r = arith.divf %i0, %i1 : f32\n    linalg.yield %r : f32",
    )
    return function([shape], text, "%r", shape)


def layer_norm(rows: int, columns: int) -> str:
    """(x - mean) / sqrt(variance + 1e-5) over each row."""
    shape, dims, row = [rows, columns], [0, 1], [0]
    full, column = tensor(shape), tensor([rows])
    text = (
        f"  %n = arith.constant {float(columns):e} : f32\n  %tiny = arith.constant 1.0e-5 : f32\n"
    )
    text += _reduce("%s", "%a0", shape, row, "addf", "0.0") + empty("%e", shape)
    text += generic(
        "%d",
        [("%a0", full, dims), ("%s", column, row)],
        ("%e", full, dims),
        ["parallel"] * 2,
        "    %m = arith.divf %i1, %n : f32\n    %r = arith.subf %i0, %m : f32\n"
        "    linalg.yield %r : f32",
    )
    text += generic(
        "%q",
        [("%d", full, dims)],
        ("%e", full, dims),
        ["parallel"] * 2,
        "    %r = arith.mulf %i0, %i0 : f32\n    linalg.yield %r : f32",
    )
    text += _reduce("%v", "%q", shape, row, "addf", "0.0")
    text += generic(
        "%r",
        [("%d", full, dims), ("%v", column, row)],
        ("%e", full, dims),
        ["parallel"] * 2,
        "    %m = arith.divf %i1, %n : f32\n    %p = arith.addf %m, %tiny : f32\n"
        "    %f = math.rsqrt %p : f32\n    %r = arith.mulf %i0, %f : f32\n"
        "    linalg.yield %r : f32",
    )
    return function([shape], text, "%r", shape)
