"""A program under construction, and the structured op that most steps write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

from fuzz.bodies import Body, Scalar
from fuzz.values import DTYPES, FLOATS, Op, Program, Shape, Spread, Value, tensor

SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 33, 64, 65, 100, 257)
OPEN_SIZES = (13, 29, 71)
"""Sizes that no step makes by itself: a dimension that has one of them has it from an argument."""
MOST_ELEMENTS = 20_000
MOST_ITERATIONS = 200_000

Operand = tuple[Value, str]
"""A tensor and the results of its indexing map."""


@dataclass
class Builder:
    """Arguments and ops so far; values that later ops may use."""

    random: Random
    special: bool = False
    opened: tuple[int, ...] = ()
    """Sizes that the text of the program leaves open."""
    arguments: list[Value] = field(default_factory=list[Value])
    ops: list[Op] = field(default_factory=list[Op])
    values: list[Value] = field(default_factory=list[Value])
    count: int = 0

    # Values.

    def fresh(self) -> str:
        """A new name."""
        self.count += 1
        return f"%v{self.count}"

    def size(self) -> int:
        """A size of a dimension, sometimes zero."""
        sizes = (*self.opened, *self.opened, 1, 2, 4, 8) if self.opened else SIZES
        return 0 if self.random.random() < 0.015 else self.random.choice(sizes)

    def shape(self, rank: int | None = None) -> Shape:
        """A random shape of few elements."""
        if rank is None:
            rank = self.random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
        while True:
            shape = tuple(self.size() for _ in range(rank))
            if prod(shape) <= MOST_ELEMENTS:
                return shape

    def dtype(self) -> str:
        """An element type; f32 more often than others."""
        return self.random.choice(("f32", "f32", *DTYPES))

    def argument(self, shape: Shape, dtype: str) -> Value:
        """A new argument."""
        spread = Spread(4.0, 0.25) if dtype in FLOATS else Spread()
        value = Value(f"%a{len(self.arguments)}", shape, dtype, spread)
        self.arguments.append(value)
        return value

    def pick(self, accept: Callable[[Value], bool] = lambda _: True) -> Value | None:
        """A value that exists and is accepted, recent ones more often."""
        fits = [value for value in self.values if accept(value)]
        if not fits:
            return None
        return self.random.choice(fits[-3:] if self.random.random() < 0.5 else fits)

    def any(self, rank: int | None = None, dtypes: Sequence[str] = DTYPES) -> Value:
        """A value that exists, or a new argument."""
        found = None
        if self.random.random() < 0.8:
            found = self.pick(
                lambda v: v.dtype in dtypes and (rank is None or len(v.shape) == rank)
            )
        if found is not None:
            return found
        dtype = self.dtype()
        return self.argument(
            self.shape(rank), dtype if dtype in dtypes else self.random.choice(dtypes)
        )

    def like(self, shape: Shape, dtypes: Sequence[str] = DTYPES) -> Value:
        """A value of a shape, or a new argument."""
        found = self.pick(lambda v: v.shape == shape and v.dtype in dtypes)
        if found is None or self.random.random() < 0.2:
            return self.argument(shape, self.random.choice(dtypes))
        return found

    # Ops.

    def add(self, text: str, results: Sequence[Value], operands: Sequence[str]) -> None:
        """Append an op; its results may be used from now on."""
        self.ops.append(Op(text, tuple(results), tuple(operands)))
        self.values += results

    def define(
        self,
        text: str,
        shape: Shape,
        dtype: str,
        operands: Sequence[Value],
        spread: Spread | None = None,
    ) -> Value:
        """Append `name = text` for one tensor."""
        value = Value(self.fresh(), shape, dtype, spread or Spread())
        self.add(f"{value.name} = {text}", [value], [v.name for v in operands])
        return value

    def hidden(self, text: str, shape: Shape, dtype: str, spread: Spread | None = None) -> Value:
        """A tensor that only the next op uses, such as its init."""
        value = Value(self.fresh(), shape, dtype, spread or Spread())
        self.ops.append(Op(text.replace("%name", value.name), (value,), ()))
        return value

    def empty(self, shape: Shape, dtype: str) -> Value:
        """`tensor.empty`."""
        return self.hidden(f"%name = tensor.empty() : {tensor(shape, dtype)}", shape, dtype)

    def filled(self, literal: str, shape: Shape, dtype: str, spread: Spread | None = None) -> Value:
        """A `linalg.fill` with a constant."""
        type_ = tensor(shape, dtype)
        return self.hidden(
            f"%name_c = arith.constant {literal} : {dtype}\n"
            f"%name_e = tensor.empty() : {type_}\n"
            f"%name = linalg.fill ins(%name_c : {dtype}) outs(%name_e : {type_}) -> {type_}",
            shape,
            dtype,
            spread,
        )

    def body(self) -> Body:
        """An empty body whose names clash with no other's."""
        return Body(self.random, f"%b{self.count}_", self.special)

    def generic(
        self,
        inputs: Sequence[Operand],
        outs: Sequence[Operand],
        iterators: Sequence[str],
        body: Body,
        yields: Sequence[Scalar],
        spreads: Sequence[Spread],
        captured: Sequence[Value] = (),
    ) -> list[Value]:
        """A `linalg.generic`; the arguments of its body are `%i0`, ..., `%o0`, ..."""
        dims = ", ".join(f"d{i}" for i in range(len(iterators)))
        maps = ", ".join(f"affine_map<({dims}) -> ({m})>" for _, m in (*inputs, *outs))
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        arguments = ", ".join(
            [f"%i{i}: {v.dtype}" for i, (v, _) in enumerate(inputs)]
            + [f"%o{i}: {v.dtype}" for i, (v, _) in enumerate(outs)]
        )
        results = [
            Value(self.fresh(), v.shape, v.dtype, spread)
            for (v, _), spread in zip(outs, spreads, strict=True)
        ]
        many = f"{results[0].name}:{len(results)}" if len(results) > 1 else results[0].name
        if len(results) > 1:
            base = results[0].name
            results = [
                Value(f"{base}#{i}", r.shape, r.dtype, r.spread) for i, r in enumerate(results)
            ]
        ins = f"ins({_typed(inputs)}) " if inputs else ""
        types = ", ".join(v.type for v, _ in outs)
        types = f"({types})" if len(outs) > 1 else types
        lines = "\n".join(f"  {line}" for line in body.lines)
        yielded = ", ".join(s.name for s in yields)
        yielded_types = ", ".join(s.dtype for s in yields)
        self.add(
            f"{many} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
            f"{ins}outs({_typed(outs)}) {{\n^bb0({arguments}):\n{lines}\n"
            f"  linalg.yield {yielded} : {yielded_types}\n}} -> {types}",
            results,
            [v.name for v in (*(v for v, _ in inputs), *(v for v, _ in outs), *captured)],
        )
        return results

    def scalars(self, inputs: Sequence[Operand]) -> list[Scalar]:
        """The arguments of a body for these inputs."""
        return [Scalar(f"%i{n}", v.dtype, v.spread) for n, (v, _) in enumerate(inputs)]

    # Indexing maps.

    def map_for(self, shape: Shape, sizes: Sequence[int]) -> str | None:
        """Results of an affine map that reads a tensor of `shape` within loops of `sizes`."""
        results: list[str] = []
        for extent in shape:
            if extent == 0:
                zero = [f"d{d}" for d, n in enumerate(sizes) if n == 0]
                if not zero:
                    return None
                results.append(self.random.choice(zero))
                continue
            results.append(self._index(extent, sizes))
        return ", ".join(results)

    def _index(self, extent: int, sizes: Sequence[int]) -> str:
        """One affine expression with values in [0, extent)."""
        random = self.random
        plain = [f"d{d}" for d, n in enumerate(sizes) if n == extent]
        if plain and random.random() < 0.75:
            return random.choice(plain)
        choices = [str(random.choice([0, extent - 1, random.randrange(extent)]))]
        for d, n in enumerate(sizes):
            if not n > 0:
                continue
            if n <= extent:
                choices += [f"d{d} + {random.randint(1, extent - n)}"] if n < extent else []
                choices.append(f"-d{d} + {random.randint(n - 1, extent - 1)}")
            if 2 * (n - 1) < extent:
                choices.append(f"d{d} * 2 + {random.randint(0, extent - 1 - 2 * (n - 1))}")
            if (n + 1) // 2 <= extent:
                choices.append(f"d{d} floordiv 2")
            choices.append(f"d{d} mod {random.randint(1, extent)}")
            for e, m in enumerate(sizes):
                if e != d and m and n + m - 1 <= extent:
                    choices.append(f"d{d} + d{e}")
        return random.choice(choices)

    def program(self) -> Program:
        """The program with a random choice of results."""
        random = self.random
        last = [v for v in self.values[-2:]]
        results = [v for v in self.values if random.random() < 0.2] + last
        results = list(dict.fromkeys(results))[-4:]
        if random.random() < 0.1:
            results.append(random.choice(results))
        if self.arguments and random.random() < 0.1:
            results.append(random.choice(self.arguments))
        random.shuffle(results)
        # Elements of i4 are packed two to a byte, which takes a known size.
        packed = any(v.dtype == "i4" for op in self.ops for v in (*op.results, *self.arguments))
        opened = () if packed else self.opened
        return Program(
            tuple(self.arguments), tuple(self.ops), tuple(results), self.special, opened
        ).pruned()


def identity(rank: int) -> str:
    """`d0, d1, ...`."""
    return ", ".join(f"d{i}" for i in range(rank))


def permuted(dims: Sequence[int]) -> str:
    """`d1, d0`, for example."""
    return ", ".join(f"d{d}" for d in dims)


def _typed(operands: Sequence[Operand]) -> str:
    names = ", ".join(v.name for v, _ in operands)
    return f"{names} : {', '.join(v.type for v, _ in operands)}"
