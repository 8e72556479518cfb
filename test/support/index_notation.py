"""Programs of `linalg.generic` from lines of index notation, for tests: zero-based, sizes given.

    program({"x": (3, 4)}, ["y[i:3] = sum(j:4) x[i, j] * j"])

A line is a result with its loops and their sizes, then `sum`, `prod`, `max` or `min` over further
loops if there are any, then an expression of elements, loops as numbers, arithmetic, comparisons
in `where(a > b, x, y)` and functions of the math dialect. An index is affine in the loops, or
computed: an element of a tensor of i32, `mod(e, n)`, `clamp(e, low, high)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Shape = tuple[int, ...]

_LINE = re.compile(r"\s*(\w+)\[(.*?)\]\s*=\s*(?:(sum|prod|max|min)\((.*?)\)\s)?\s*(.*)")
_COMBINERS = {
    "sum": ("arith.addf", "0.0"),
    "prod": ("arith.mulf", "1.0"),
    "max": ("arith.maximumf", "0xFF800000"),
    "min": ("arith.minimumf", "0x7F800000"),
}
_ARITHMETIC = {ast.Add: "addf", ast.Sub: "subf", ast.Mult: "mulf", ast.Div: "divf"}
_INDEX = {ast.Add: "addi", ast.Sub: "subi", ast.Mult: "muli"}
_COMPARE = {ast.Gt: "ogt", ast.GtE: "oge", ast.Lt: "olt", ast.LtE: "ole", ast.Eq: "oeq"}


def type_text(shape: Shape, element: str = "f32") -> str:
    """`tensor<4x8xf32>`."""
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def program(
    arguments: Mapping[str, Shape],
    lines: Sequence[str],
    integers: Mapping[str, Shape] | None = None,
    results: Sequence[str] | None = None,
) -> str:
    """`@main` over f32 tensors, then i32 tensors; it returns the last line's result by default."""
    integers = integers or {}
    shapes: dict[str, tuple[Shape, str]] = {n: (s, "f32") for n, s in arguments.items()}
    shapes |= {n: (s, "i32") for n, s in integers.items()}
    given = ", ".join(f"%{n}: {type_text(*shapes[n])}" for n in shapes)
    text: list[str] = []
    name = ""
    for line in lines:
        if line.lstrip().startswith("scatter"):
            name = _scatter(line, shapes, text)
        else:
            name = _Line(line, shapes, text).emit()
    returned = list(results or [name])
    types = ", ".join(type_text(*shapes[n]) for n in returned)
    values = ", ".join(f"%{n}" for n in returned)
    body = "\n".join(text)
    return f"func.func @main({given}) -> ({types}) {{\n{body}\n  return {values} : {types}\n}}\n"


def _scatter(line: str, shapes: dict[str, tuple[Shape, str]], text: list[str]) -> str:
    """`scatter y:10 = x at ind`: y[ind[i]] += x[i], in order."""
    match = re.match(r"\s*scatter (\w+):(\d+) = (\w+) at (\w+)", line)
    assert match is not None, line
    result, size, source, indices = match.groups()
    (count,), _ = shapes[source]
    type_ = type_text((int(size),))
    text.append(f"""  %{result}_c = arith.constant 0.0 : f32
  %{result}_e = tensor.empty() : {type_}
  %{result}_0 = linalg.fill ins(%{result}_c : f32) outs(%{result}_e : {type_}) -> {type_}
  %{result}_i = tensor.expand_shape %{indices} [[0, 1]] output_shape [{count}, 1]
      : tensor<{count}xi32> into tensor<{count}x1xi32>
  %{result} = ingot.scatter dimensions = [0]
      ins(%{result}_i, %{source} : tensor<{count}x1xi32>, tensor<{count}xf32>)
      outs(%{result}_0 : {type_}) {{
  ^bb0(%old: f32, %new: f32):
    %total = arith.addf %old, %new : f32
    ingot.yield %total : f32
  }}""")
    shapes[result] = ((int(size),), "f32")
    return result


@dataclass
class _Line:
    line: str
    shapes: dict[str, tuple[Shape, str]]
    text: list[str]
    loops: dict[str, int] = field(default_factory=dict[str, int])
    reads: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    body: list[str] = field(default_factory=list[str])
    count: int = 0

    def emit(self) -> str:
        match = _LINE.fullmatch(self.line)
        assert match is not None, self.line
        result, out, combiner, reduced, expression = match.groups()
        kept, summed = _sizes(out), _sizes(reduced or "")
        self.loops = kept | summed
        value = self.value(ast.parse(expression.strip(), mode="eval").body)
        shape = tuple(kept.values())
        type_ = type_text(shape)
        self.text.append(f"  %{result}_e = tensor.empty() : {type_}")
        init = f"%{result}_e"
        if combiner:
            op, neutral = _COMBINERS[combiner]
            init = f"%{result}_0"
            self.text.append(f"  %{result}_c = arith.constant {neutral} : f32")
            self.text.append(
                f"  {init} = linalg.fill ins(%{result}_c : f32) outs(%{result}_e : {type_}) "
                f"-> {type_}"
            )
            value = self.op(f"{op} %acc, {value} : f32")
        self.text.append(self._generic(result, type_, init, list(kept), list(summed), value))
        self.shapes[result] = (shape, "f32")
        return result

    def _generic(
        self, result: str, type_: str, init: str, kept: list[str], summed: list[str], value: str
    ) -> str:
        dims = ", ".join(self.loops)
        inputs = list(self.reads.items())
        # A loop that no operand runs over whole gets its size from an operand without contents.
        shaped = [loop for loop in summed if not any(loop in _items(i) for (_, i), _ in inputs)]
        maps = [index for (_, index), _ in inputs]
        names = [f"%{name}" for (name, _), _ in inputs]
        types = [type_text(*self.shapes[name]) for (name, _), _ in inputs]
        arguments = [f"{a}: {self.shapes[name][1]}" for (name, _), a in inputs]
        if shaped:
            size = type_text(tuple(self.loops[loop] for loop in shaped))
            self.text.append(f"  %{result}_n = tensor.empty() : {size}")
            maps.append(", ".join(shaped))
            names.append(f"%{result}_n")
            types.append(size)
            arguments.append("%size: f32")
        maps.append(", ".join(kept))
        arguments.append("%acc: f32")
        map_text = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)
        kinds = ", ".join(['"parallel"'] * len(kept) + ['"reduction"'] * len(summed))
        ins = f"ins({', '.join(names)} : {', '.join(types)}) " if names else ""
        body = "\n".join(self.body)
        return f"""  %{result} = linalg.generic {{indexing_maps = [{map_text}],
      iterator_types = [{kinds}]}} {ins}outs({init} : {type_}) {{
  ^bb0({", ".join(arguments)}):
{body}
    linalg.yield {value} : f32
  }} -> {type_}"""

    def op(self, text: str) -> str:
        """A new value."""
        self.count += 1
        name = f"%v{self.count}"
        self.body.append(f"    {name} = {text}")
        return name

    def value(self, node: ast.expr) -> str:
        """The f32 value of an expression."""
        match node:
            case ast.Constant(value=int() | float() as number):
                return self.op(f"arith.constant {float(number):e} : f32")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.op(f"arith.negf {self.value(operand)} : f32")
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.value(left), self.value(right)
                return self.op(f"arith.{_ARITHMETIC[type(op)]} {a}, {b} : f32")
            case ast.Name(id=loop):
                integer = self.op(f"arith.index_cast {self.index(node)} : index to i32")
                assert loop in self.loops
                return self.op(f"arith.sitofp {integer} : i32 to f32")
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self.element(name, _elements(index))
            case ast.Call(func=ast.Name(id="where"), args=[ast.Compare() as test, yes, no]):
                a, b = self.value(test.left), self.value(test.comparators[0])
                predicate = _COMPARE[type(test.ops[0])]
                condition = self.op(f"arith.cmpf {predicate}, {a}, {b} : f32")
                return self.op(
                    f"arith.select {condition}, {self.value(yes)}, {self.value(no)} : f32"
                )
            case ast.Call(func=ast.Name(id="pad"), args=[ast.Name(id=name), position]):
                return self._padded(name, position)
            case ast.Call(func=ast.Name(id=function), args=args):
                values = ", ".join(self.value(a) for a in args)
                dialect = "arith" if function.endswith(("imumf", "numf")) else "math"
                return self.op(f"{dialect}.{function} {values} : f32")
            case _:
                raise ValueError(ast.unparse(node))

    def _padded(self, name: str, position: ast.expr) -> str:
        """The element, or 0 past the ends of a vector."""
        (size,), _ = self.shapes[name]
        at, zero, last = self.index(position), self.number(0), self.number(size - 1)
        lower = self.op(f"arith.cmpi sge, {at}, {zero} : index")
        upper = self.op(f"arith.cmpi sle, {at}, {last} : index")
        inside = self.op(f"arith.andi {lower}, {upper} : i1")
        nearest = self.op(
            f"arith.minsi {self.op(f'arith.maxsi {at}, {zero} : index')}, {last} : index"
        )
        value = self.op(f"tensor.extract %{name}[{nearest}] : {type_text((size,))}")
        nothing = self.op("arith.constant 0.0 : f32")
        return self.op(f"arith.select {inside}, {value}, {nothing} : f32")

    def element(self, name: str, indices: Sequence[ast.expr]) -> str:
        """An element, by a map where all indices are affine."""
        if all(_is_affine(i) for i in indices):
            key = (name, ", ".join(ast.unparse(i) for i in indices))
            return self.reads.setdefault(key, f"%i{len(self.reads)}")
        at = ", ".join(self.index(i) for i in indices)
        return self.op(f"tensor.extract %{name}[{at}] : {type_text(*self.shapes[name])}")

    def number(self, value: int) -> str:
        """A constant index."""
        return self.op(f"arith.constant {value} : index")

    def index(self, node: ast.expr) -> str:
        """The value of an index."""
        match node:
            case ast.Constant(value=int() as number):
                return self.number(number)
            case ast.Name(id=loop):
                return self.op(f"linalg.index {list(self.loops).index(loop)} : index")
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.index(left), self.index(right)
                return self.op(f"arith.{_INDEX[type(op)]} {a}, {b} : index")
            case ast.Call(func=ast.Name(id="mod"), args=[value, size]):
                a, n = self.index(value), self.index(size)
                rest = self.op(f"arith.remsi {a}, {n} : index")
                above = self.op(f"arith.addi {rest}, {n} : index")
                return self.op(f"arith.remsi {above}, {n} : index")
            case ast.Call(func=ast.Name(id="clamp"), args=[value, low, high]):
                a = self.op(f"arith.maxsi {self.index(value)}, {self.index(low)} : index")
                return self.op(f"arith.minsi {a}, {self.index(high)} : index")
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                value = self.element(name, _elements(index))
                return self.op(f"arith.index_cast {value} : i32 to index")
            case _:
                raise ValueError(ast.unparse(node))


def _sizes(text: str) -> dict[str, int]:
    parts = [part.split(":") for part in text.replace(" ", "").split(",") if part]
    return {name: int(size) for name, size in parts}


def _items(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _elements(index: ast.expr) -> list[ast.expr]:
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def _is_affine(node: ast.expr) -> bool:
    return not any(isinstance(n, ast.Call | ast.Subscript) for n in ast.walk(node))
