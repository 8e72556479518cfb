"""Random bodies of structured ops: expressions over scalars whose errors are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from fuzz.values import FLOATS, INTEGERS, LARGEST, SIGNIFICAND, WIDTH, Spread


@dataclass(frozen=True)
class Scalar:
    """A value inside a body."""

    name: str
    dtype: str
    spread: Spread = field(default_factory=Spread)

    @property
    def exact(self) -> bool:
        """Whether every device must have the same bits."""
        return not self.spread.error


SMOOTH: dict[str, tuple[float, float]] = {
    # The largest slope and the largest magnitude of the function on [-4, 4].
    "math.tanh": (1.0, 1.0),
    "math.sin": (1.0, 1.0),
    "math.cos": (1.0, 1.0),
    "math.exp": (55.0, 55.0),
    "math.exp2": (12.0, 16.0),
    "math.expm1": (55.0, 55.0),
    "math.erf": (1.2, 1.0),
    "math.atan": (1.0, 1.4),
}
FUNCTION_ROUNDINGS = 16.0
"""Units in the last place that a math function of the input's type may be off."""


@dataclass
class Body:
    """Lines of a body under construction; names start with `prefix`."""

    random: Random
    prefix: str = "%b"
    special: bool = False
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def emit(self, text: str, dtype: str, spread: Spread | None = None) -> Scalar:
        """Add an op with one result."""
        self.count += 1
        name = f"{self.prefix}{self.count}"
        self.lines.append(f"{name} = {text}")
        return Scalar(name, dtype, spread or Spread())

    def constant(self, dtype: str, value: float | int | None = None) -> Scalar:
        """A constant; a random one of the kinds that break things by default."""
        if dtype in FLOATS:
            chosen = float(self.random.choice([0.0, 0.5, 1.0, -1.0, 2.0, -3.0, 4.0]))
            value = chosen if value is None else float(value)
            spread = Spread(abs(value), 0.25 if value % 0.25 == 0 else None)
            return self.emit(f"arith.constant {value!r} : {dtype}", dtype, spread)
        if dtype == "i1":
            chosen = self.random.choice(["true", "false"]) if value is None else str(bool(value))
            return self.emit(f"arith.constant {chosen.lower()}", dtype)
        width = WIDTH[dtype]
        edges = [0, 1, -1, 2, 3, 7, -(1 << (width - 1)), (1 << (width - 1)) - 1, width, width - 1]
        chosen = self.random.choice(edges) if value is None else int(value)
        return self.emit(f"arith.constant {chosen} : {dtype}", dtype)

    # Any type to any type.

    def cast(self, value: Scalar, dtype: str) -> Scalar:
        """Convert; a float that is not exact becomes no integer but a constant."""
        source = value.dtype
        if source == dtype:
            return value
        if source in FLOATS and dtype in FLOATS:
            up = SIGNIFICAND[dtype] > SIGNIFICAND[source]
            if {source, dtype} == {"f16", "bf16"}:
                return self.cast(self.cast(value, "f32"), dtype)
            name = "arith.extf" if up else "arith.truncf"
            value = value if up else self.bounded(value, LARGEST[dtype])
            return self._convert(name, value, dtype, value.spread.fitted(dtype))
        if source in FLOATS:
            if not value.exact:
                return self.constant(dtype)
            if dtype == "i1":
                return self.emit(
                    f"arith.cmpf {self.random.choice(CMPF)}, {value.name}, "
                    f"{self.constant(source).name} : {source}",
                    "i1",
                )
            if dtype == "i4":
                return self.cast(self.cast(value, "i8"), dtype)
            name = self.random.choice(["arith.fptosi", "arith.fptoui"])
            return self._convert(name, value, dtype)
        if source == "index":
            return self.cast(self._convert("arith.index_cast", value, "i64"), dtype)
        if dtype in FLOATS:
            return self._integer_to_float(value, dtype)
        wider = WIDTH[dtype] > WIDTH[source]
        if not wider:
            return self._convert("arith.trunci", value, dtype)
        return self._convert(self.random.choice(["arith.extsi", "arith.extui"]), value, dtype)

    def _integer_to_float(self, value: Scalar, dtype: str) -> Scalar:
        """Through a remainder that keeps the float small: -7 to 7."""
        if value.dtype in ("i1", "i4"):
            name = self.random.choice(["arith.sitofp", "arith.uitofp"])
            return self._convert(name, value, dtype, Spread(15.0, 1.0))
        seven = self.constant(value.dtype, 7)
        small = self.emit(f"arith.remsi {value.name}, {seven.name} : {value.dtype}", value.dtype)
        return self._convert("arith.sitofp", small, dtype, Spread(7.0, 1.0))

    def _convert(
        self, name: str, value: Scalar, dtype: str, spread: Spread | None = None
    ) -> Scalar:
        return self.emit(f"{name} {value.name} : {value.dtype} to {dtype}", dtype, spread)

    def bounded(self, value: Scalar, bound: float) -> Scalar:
        """The value clamped into [-bound, bound], when it can be outside."""
        if value.dtype not in FLOATS or (value.spread.bound <= bound and not self.special):
            return value
        spread = value.spread
        low, high = self.constant(value.dtype, -bound), self.constant(value.dtype, bound)
        grid = spread.grid if spread.grid and bound % spread.grid == 0 else None
        new = Spread(bound, grid if not spread.error else None, spread.error)
        if grid is None and not spread.error:
            new = Spread(bound, None, 0.0)
        first = self.emit(f"arith.maximumf {value.name}, {low.name} : {value.dtype}", value.dtype)
        return self.emit(
            f"arith.minimumf {first.name}, {high.name} : {value.dtype}", low.dtype, new
        )

    # One op of each kind.

    def step(self, pool: list[Scalar]) -> Scalar:
        """One more value from those in `pool`."""
        value = self.random.choice(pool)
        if self.random.random() < 0.15:
            return self.cast(value, self.random.choice([*FLOATS, *INTEGERS, "i1"]))
        if self.random.random() < 0.15:
            return self.select(pool)
        other = self.random.choice([v for v in pool if v.dtype == value.dtype])
        if self.random.random() < 0.2:
            other = self.constant(value.dtype) if value.dtype != "index" else other
        if value.dtype in FLOATS:
            return self.float_step(value, other)
        if value.dtype == "i1":
            name = self.random.choice(["andi", "ori", "xori", "addi", "maxui", "minsi", "muli"])
            return self.emit(f"arith.{name} {value.name}, {other.name} : i1", "i1")
        if value.dtype == "index":
            return self.emit(f"arith.addi {value.name}, {other.name} : index", "index")
        return self.integer_step(value, other)

    def select(self, pool: list[Scalar]) -> Scalar:
        """A select between two values of a type by a comparison of exact values."""
        left = self.random.choice(pool)
        right = self.random.choice([v for v in pool if v.dtype == left.dtype])
        condition = self.condition(pool)
        a, b = left.spread, right.spread
        grid = min(a.grid, b.grid) if a.grid and b.grid else None
        spread = Spread(max(a.bound, b.bound), grid, max(a.error, b.error))
        if self.random.random() < 0.3 and left.dtype != "index":
            self.count += 1
            name = f"{self.prefix}{self.count}"
            self.lines.append(
                f"{name} = scf.if {condition.name} -> ({left.dtype}) {{\n"
                f"scf.yield {left.name} : {left.dtype}\n}} else {{\n"
                f"scf.yield {right.name} : {right.dtype}\n}}"
            )
            return Scalar(name, left.dtype, spread)
        text = f"arith.select {condition.name}, {left.name}, {right.name} : {left.dtype}"
        return self.emit(text, left.dtype, spread)

    def condition(self, pool: list[Scalar]) -> Scalar:
        """A truth value."""
        exact = [v for v in pool if v.exact]
        if not exact:
            return self.constant("i1")
        value = self.random.choice(exact)
        if value.dtype == "i1":
            return value
        other = self.random.choice([v for v in exact if v.dtype == value.dtype])
        if value.dtype != "index" and self.random.random() < 0.5:
            other = self.constant(value.dtype)
        kind, predicates = ("cmpf", CMPF) if value.dtype in FLOATS else ("cmpi", CMPI)
        predicate = self.random.choice(predicates)
        return self.emit(
            f"arith.{kind} {predicate}, {value.name}, {other.name} : {value.dtype}", "i1"
        )

    def integer_step(self, value: Scalar, other: Scalar) -> Scalar:
        """Integer arithmetic, with every edge; of i4, which is for storage, what it has."""
        if value.dtype == "i4":
            name = self.random.choice(INTEGER_OPS[:10])
            return self.emit(f"arith.{name} {value.name}, {other.name} : i4", "i4")
        if self.random.random() < 0.15:
            name = self.random.choice(["math.absi", "math.ctpop", "math.ctlz", "math.cttz"])
            return self.emit(f"{name} {value.name} : {value.dtype}", value.dtype)
        name = self.random.choice(INTEGER_OPS)
        return self.emit(f"arith.{name} {value.name}, {other.name} : {value.dtype}", value.dtype)

    def float_step(self, value: Scalar, other: Scalar) -> Scalar:
        """Float arithmetic whose error is known."""
        dtype = value.dtype
        kind = self.random.random()
        if kind < 0.25:
            return self._smooth(value)
        if kind < 0.4:
            return self._unary(value)
        if kind < 0.55:
            names = ["maximumf", "minimumf", "maxnumf", "minnumf"]
            text = f"arith.{self.random.choice(names)} {value.name}, {other.name} : {dtype}"
            a, b = value.spread, other.spread
            grid = min(a.grid, b.grid) if a.grid and b.grid else None
            error = max(a.error, b.error)
            return self.emit(text, dtype, Spread(max(a.bound, b.bound), grid, error))
        inexact = value.spread.error or other.spread.error
        if kind < 0.75 or (self.special and inexact):
            return self.add(value, other, self.random.choice(["addf", "subf"]))
        if kind < 0.92:
            return self.mul(value, other)
        return self._divide(value, other)

    def _unary(self, value: Scalar) -> Scalar:
        dtype, spread = value.dtype, value.spread
        names = ["arith.negf", "math.absf"]
        if value.exact:
            names += ["math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc"]
        name = self.random.choice(names)
        if name.startswith("math.") and name != "math.absf":
            # Whole numbers of the type stay whole numbers of the type.
            spread = Spread(spread.bound + 1.0, 1.0).fitted(dtype, 0.0)
        return self.emit(f"{name} {value.name} : {dtype}", dtype, spread)

    def _smooth(self, value: Scalar) -> Scalar:
        dtype = value.dtype
        small = self.bounded(value, 4.0)
        if self.random.random() < 0.25 and not self.special:
            one = self.constant(dtype, 1.0)
            above = self.add(self._absolute(small), one, "addf")
            name = self.random.choice(["math.sqrt", "math.log", "math.rsqrt", "math.log1p"])
            bound = above.spread.bound
            result = Spread(max(1.0, bound), None, above.spread.error)
            return self.emit(
                f"{name} {above.name} : {dtype}", dtype, result.fitted(dtype, FUNCTION_ROUNDINGS)
            )
        name = self.random.choice(list(SMOOTH))
        slope, bound = SMOOTH[name]
        result = Spread(bound, None, slope * small.spread.error)
        return self.emit(
            f"{name} {small.name} : {dtype}", dtype, result.fitted(dtype, FUNCTION_ROUNDINGS)
        )

    def _absolute(self, value: Scalar) -> Scalar:
        return self.emit(f"math.absf {value.name} : {value.dtype}", value.dtype, value.spread)

    def add(self, left: Scalar, right: Scalar, name: str = "addf") -> Scalar:
        """left + right or left - right."""
        dtype = left.dtype
        half = LARGEST[dtype] / 2
        left, right = self._within(left, half), self._within(right, half)
        a, b = left.spread, right.spread
        grid = min(a.grid, b.grid) if a.grid and b.grid else None
        spread = Spread(a.bound + b.bound, grid, a.error + b.error).fitted(dtype)
        return self.emit(f"arith.{name} {left.name}, {right.name} : {dtype}", dtype, spread)

    def mul(self, left: Scalar, right: Scalar) -> Scalar:
        """left * right."""
        dtype = left.dtype
        root = 2.0 ** int(SIGNIFICAND[dtype] > 11) * 16.0
        left, right = self._within(left, root), self._within(right, root)
        a, b = left.spread, right.spread
        grid = a.grid * b.grid if a.grid and b.grid else None
        error = a.error * b.bound + b.error * a.bound + a.error * b.error
        spread = Spread(a.bound * b.bound, grid, error).fitted(dtype)
        return self.emit(f"arith.mulf {left.name}, {right.name} : {dtype}", dtype, spread)

    def _divide(self, value: Scalar, other: Scalar) -> Scalar:
        """value / (|other| + 1), or by a power of two."""
        dtype = value.dtype
        if self.random.random() < 0.3 or self.special:
            two = self.constant(dtype, 2.0)
            spread = value.spread
            half = Spread(spread.bound / 2, spread.grid / 2 if spread.grid else None, spread.error)
            return self.emit(
                f"arith.divf {value.name}, {two.name} : {dtype}", dtype, half.fitted(dtype)
            )
        value = self._within(value, 64.0)
        below = self.add(
            self._absolute(self._within(other, 64.0)), self.constant(dtype, 1.0), "addf"
        )
        a, b = value.spread, below.spread
        spread = Spread(a.bound, None, a.error + a.bound * b.error).fitted(dtype, 4.0)
        return self.emit(f"arith.divf {value.name}, {below.name} : {dtype}", dtype, spread)

    def _within(self, value: Scalar, bound: float) -> Scalar:
        return value if value.spread.bound <= bound else self.bounded(value, bound)


CMPF = ("oeq", "one", "olt", "ole", "ogt", "oge", "ord", "ueq", "une", "ult", "uge", "uno")
CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
INTEGER_OPS = (
    "addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui",
    "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui", "shli",
    "shrsi", "shrui",
)  # fmt: skip
