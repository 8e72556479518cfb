"""Small random programs on tensors as MLIR text, for holding passes against the evaluator."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from hypothesis import strategies as st

SIZES = (0, *(1, 2, 3, 4, 5, 17) * 2)


@dataclass
class ProgramText:
    """A function that is written op by op; values are named with their shapes."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list[str])
    arguments: list[tuple[str, tuple[int, ...]]] = field(
        default_factory=list[tuple[str, tuple[int, ...]]]
    )
    values: list[tuple[str, tuple[int, ...]]] = field(
        default_factory=list[tuple[str, tuple[int, ...]]]
    )
    count: int = 0

    def fresh(self) -> str:
        """A new name."""
        self.count += 1
        return f"%v{self.count}"

    def argument(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """A new argument of the function."""
        value = (f"%a{len(self.arguments)}", shape)
        self.arguments.append(value)
        return value

    def pick(self) -> tuple[str, tuple[int, ...]]:
        """A value that exists, or a new argument."""
        if self.values and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(self.values))
        rank = self.draw(st.integers(1, 3))
        shape = tuple(self.draw(st.sampled_from(SIZES)) for _ in range(rank))
        return self.argument(shape)

    def define(self, text: str, shape: tuple[int, ...]) -> str:
        """Add an op with one result."""
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape))
        return name

    def empty(self, shape: tuple[int, ...]) -> str:
        """`tensor.empty`."""
        name = self.fresh()
        self.lines.append(f"{name} = tensor.empty() : {tensor(shape)}")
        return name

    def filled(self, value: str, shape: tuple[int, ...]) -> str:
        """`linalg.fill`."""
        scalar, name, init = self.fresh(), self.fresh(), self.empty(shape)
        self.lines.append(f"{scalar} = arith.constant {value} : f32")
        self.lines.append(
            f"{name} = linalg.fill ins({scalar} : f32) outs({init} : {tensor(shape)})"
            f" -> {tensor(shape)}"
        )
        return name

    def generic(
        self,
        inputs: list[tuple[str, tuple[int, ...]]],
        maps: list[str],
        out: tuple[int, ...],
        out_map: str,
        iterators: list[str],
        body: str,
        init: str | None = None,
    ) -> str:
        """`linalg.generic` whose body computes `%r` from `%i0`, `%i1`, ... and `%o`."""
        rank = len(iterators)
        dims = ", ".join(f"d{i}" for i in range(rank))
        texts = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in [*maps, out_map])
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        operands = ", ".join(name for name, _ in inputs)
        types = ", ".join(tensor(shape) for _, shape in inputs)
        args = ", ".join([*(f"%i{i}: f32" for i in range(len(inputs))), "%o: f32"])
        start = init if init is not None else self.empty(out)
        ins = f"ins({operands} : {types}) " if inputs else ""
        return self.define(
            f"linalg.generic {{indexing_maps = [{texts}], iterator_types = [{kinds}]}} "
            f"{ins}outs({start} : {tensor(out)}) {{\n^bb0({args}):\n{body}\n"
            f"linalg.yield %r : f32\n}} -> {tensor(out)}",
            out,
        )

    # The kinds of ops that a program is made of.

    def unary(self) -> None:
        value = self.pick()
        name = self.draw(st.sampled_from(["math.tanh", "arith.negf", "math.absf", "math.exp"]))
        ids = dims(len(value[1]))
        body = f"%t = math.tanh %i0 : f32\n%r = {name} %t : f32"
        self.generic([value], [ids], value[1], ids, ["parallel"] * len(value[1]), body)

    def binary(self) -> None:
        left = self.pick()
        same = [v for v in self.values if v[1] == left[1]]
        right = self.draw(st.sampled_from(same)) if same else self.argument(left[1])
        name = self.draw(st.sampled_from(["arith.addf", "arith.subf", "arith.mulf"]))
        ids = dims(len(left[1]))
        body = f"%r = {name} %i0, %i1 : f32"
        self.generic([left, right], [ids, ids], left[1], ids, ["parallel"] * len(left[1]), body)

    def broadcast(self) -> None:
        left = self.pick()
        kept = [i for i in range(len(left[1])) if self.draw(st.booleans())]
        shape = tuple(left[1][i] for i in kept)
        same = [v for v in self.values if v[1] == shape]
        right = self.draw(st.sampled_from(same)) if same else self.argument(shape)
        maps = [dims(len(left[1])), ", ".join(f"d{i}" for i in kept)]
        body = "%r = arith.addf %i0, %i1 : f32"
        self.generic([left, right], maps, left[1], maps[0], ["parallel"] * len(left[1]), body)

    def transpose(self) -> None:
        value = self.pick()
        order = self.draw(st.permutations(range(len(value[1]))))
        shape = tuple(value[1][i] for i in order)
        where = [order.index(i) for i in range(len(order))]
        read = ", ".join(f"d{i}" for i in where)
        body = "%r = arith.negf %i0 : f32" if self.draw(st.booleans()) else None
        if body is None:
            init = self.empty(shape)
            self.define(
                f"linalg.transpose ins({value[0]} : {tensor(value[1])}) "
                f"outs({init} : {tensor(shape)}) permutation = {list(order)}",
                shape,
            )
            return
        self.generic([value], [read], shape, dims(len(shape)), ["parallel"] * len(shape), body)

    def reduce(self) -> None:
        value = self.pick()
        if not value[1]:
            return
        axis = self.draw(st.integers(0, len(value[1]) - 1))
        out = tuple(s for i, s in enumerate(value[1]) if i != axis)
        kind, init = self.draw(
            st.sampled_from([("arith.addf", "0.0"), ("arith.maximumf", "0xFF800000")])
        )
        iterators = ["reduction" if i == axis else "parallel" for i in range(len(value[1]))]
        out_map = ", ".join(f"d{i}" for i in range(len(value[1])) if i != axis)
        body = f"%r = {kind} %o, %i0 : f32"
        start = self.filled(init, out)
        self.generic([value], [dims(len(value[1]))], out, out_map, iterators, body, start)

    def matmul(self) -> None:
        left = next((v for v in reversed(self.values) if len(v[1]) == 2), None)
        if left is None or self.draw(st.booleans()):
            left = self.argument((self.draw(st.sampled_from(SIZES)), 4))
        right = self.argument((left[1][1], self.draw(st.sampled_from(SIZES))))
        out = (left[1][0], right[1][1])
        init = self.filled("0.0", out)
        self.define(
            f"linalg.matmul ins({left[0]}, {right[0]} : {tensor(left[1])}, {tensor(right[1])}) "
            f"outs({init} : {tensor(out)}) -> {tensor(out)}",
            out,
        )

    def collapse(self) -> None:
        value = self.pick()
        if len(value[1]) < 2:
            return
        at = self.draw(st.integers(0, len(value[1]) - 2))
        groups = [[i] for i in range(at)] + [[at, at + 1]]
        groups += [[i] for i in range(at + 2, len(value[1]))]
        shape = tuple(prod(value[1][i] for i in g) for g in groups)
        self.define(
            f"tensor.collapse_shape {value[0]} {groups} : {tensor(value[1])} into {tensor(shape)}",
            shape,
        )

    def expand(self) -> None:
        value = self.pick()
        splits = [(i, d) for i, s in enumerate(value[1]) for d in (1, 2, 3, 4) if s and s % d == 0]
        if len(value[1]) > 3 or not splits:
            return
        at, inner = self.draw(st.sampled_from(splits))
        shape = (*value[1][:at], value[1][at] // inner, inner, *value[1][at + 1 :])
        groups = [[i] for i in range(at)] + [[at, at + 1]]
        groups += [[i + 1] for i in range(at + 1, len(value[1]))]
        self.define(
            f"tensor.expand_shape {value[0]} {groups} output_shape {list(shape)} : "
            f"{tensor(value[1])} into {tensor(shape)}",
            shape,
        )

    def slice(self) -> None:
        value = self.pick()
        offsets = [self.draw(st.integers(0, max(0, s - 1))) for s in value[1]]
        strides = [self.draw(st.integers(1, 2)) for _ in value[1]]
        sizes = [
            self.draw(st.integers(min(s, 1), (s - o + t - 1) // t))
            for s, o, t in zip(value[1], offsets, strides, strict=True)
        ]
        shape = tuple(sizes)
        self.define(
            f"tensor.extract_slice {value[0]}{offsets} {sizes} {strides} : "
            f"{tensor(value[1])} to {tensor(shape)}",
            shape,
        )

    def pad(self) -> None:
        value = self.pick()
        low = [self.draw(st.integers(0, 2)) for _ in value[1]]
        high = [self.draw(st.integers(0, 2)) for _ in value[1]]
        shape = tuple(a + s + b for a, s, b in zip(low, value[1], high, strict=True))
        scalar = self.fresh()
        self.lines.append(f"{scalar} = arith.constant 7.0 : f32")
        args = ", ".join(f"%p{i}: index" for i in range(len(shape)))
        self.define(
            f"tensor.pad {value[0]} low{low} high{high} {{\n^bb0({args}):\n"
            f"tensor.yield {scalar} : f32\n}} : {tensor(value[1])} to {tensor(shape)}",
            shape,
        )

    def concat(self) -> None:
        value = self.pick()
        if not value[1]:
            return
        axis = self.draw(st.integers(0, len(value[1]) - 1))
        fits = [
            v
            for v in self.values
            if len(v[1]) == len(value[1])
            and all(
                a == b for i, (a, b) in enumerate(zip(v[1], value[1], strict=True)) if i != axis
            )
        ]
        other = self.draw(st.sampled_from(fits)) if fits else value
        shape = tuple(s + other[1][i] if i == axis else s for i, s in enumerate(value[1]))
        self.define(
            f"tensor.concat dim({axis}) {value[0]}, {other[0]} : "
            f"({tensor(value[1])}, {tensor(other[1])}) -> {tensor(shape)}",
            shape,
        )

    def insert(self) -> None:
        value = self.pick()
        low = [self.draw(st.integers(0, 2)) for _ in value[1]]
        shape = tuple(a + s + 1 for a, s in zip(low, value[1], strict=True))
        dest = self.argument(shape)
        ones = [1] * len(shape)
        self.define(
            f"tensor.insert_slice {value[0]} into {dest[0]}{low} {list(value[1])} {ones} : "
            f"{tensor(value[1])} into {tensor(shape)}",
            shape,
        )


def dims(rank: int) -> str:
    """`d0, d1, ...`"""
    return ", ".join(f"d{i}" for i in range(rank))


def tensor(shape: tuple[int, ...]) -> str:
    """The type of a tensor of f32."""
    return f"tensor<{''.join(f'{s}x' for s in shape)}f32>"


STEPS = (
    ProgramText.unary,
    ProgramText.binary,
    ProgramText.broadcast,
    ProgramText.transpose,
    ProgramText.reduce,
    ProgramText.matmul,
    ProgramText.collapse,
    ProgramText.expand,
    ProgramText.slice,
    ProgramText.pad,
    ProgramText.concat,
    ProgramText.insert,
)


@st.composite
def tensor_programs(draw: st.DrawFn) -> tuple[str, list[tuple[int, ...]]]:
    """The text of a module with a function `main`, and the shapes of its arguments (f32)."""
    program = ProgramText(draw)
    for _ in range(draw(st.integers(2, 9))):
        draw(st.sampled_from(STEPS))(program)
    if not program.values:
        program.unary()
    results = [v for v in program.values if draw(st.integers(0, 3)) == 0][:3]
    if program.values[-1] not in results:
        results.append(program.values[-1])
    arguments = ", ".join(f"{name}: {tensor(shape)}" for name, shape in program.arguments)
    types = ", ".join(tensor(shape) for _, shape in results)
    names = ", ".join(name for name, _ in results)
    body = "\n".join(program.lines)
    text = (
        f"func.func @main({arguments}) -> ({types}) {{\n{body}\nfunc.return {names} : {types}\n}}\n"
    )
    return text, [shape for _, shape in program.arguments]
