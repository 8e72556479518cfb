"""Random structured kernels: nested loops and selections, phis, results, variables, calls."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from unit.spirv.kernels import element_pointer, helper, kernel
from xdsl.builder import Builder, InsertPoint
from xdsl.dialects.builtin import UnitAttr, VectorType, f16, f32, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ingot.compiler.dialects import spirv

V4 = VectorType(f32, [4])
TYPES: tuple[Attribute, ...] = (i32, f32, i1, V4, i64, f16)
NAMES = ("a", "sum", "row", None, None, None)


class RandomKernel:
    """Draws everything from `random`; `depth` bounds the nesting.

    Without `results` no loop and no selection has any, as in MLIR 19.
    """

    def __init__(self, random: Random, depth: int = 3, *, results: bool = True) -> None:
        self.random = random
        self.results = results
        self.depth = depth
        self.callee: spirv.FuncOp | None = None

    def module(self) -> spirv.ModuleOp:
        def called(b: Builder, arguments: object) -> None:
            self.block(b, [*b.insertion_point.block.args], self.depth)

        self.callee = None
        callee = helper("callee", [i32, f32], called)
        self.callee = callee
        return kernel(self.body, others=[callee])

    def body(self, b: Builder, variables: dict[str, spirv.GlobalVariableOp]) -> None:
        gid = b.insert(spirv.LoadOp(b.insert(spirv.AddressOfOp(variables["gid"]))))
        index = b.insert(spirv.CompositeExtractOp(gid, [0])).component
        pointer = element_pointer(b, variables["x"], index)
        value = b.insert(spirv.LoadOp(pointer)).value
        known = self.block(b, [index, value], 0)
        result = self.pick(b, known, f32)
        b.insert(spirv.StoreOp(element_pointer(b, variables["y"], index), result))

    def pick(self, b: Builder, known: list[SSAValue], type: Attribute) -> SSAValue:
        """A known value of `type`, or a constant or an undefined one."""
        fitting = [value for value in known if value.type == type]
        if fitting and self.random.random() < 0.8:
            return self.random.choice(fitting)
        if self.random.random() < 0.1:
            return self.named(b.insert(spirv.UndefOp(type))).results[0]
        number = self.random.choice((0, 1, 2, -1, 65536, 0.5))
        return self.named(b.insert(spirv.ConstantOp(number, type))).results[0]

    def named(self, op: Operation) -> Operation:
        if op.results:
            op.results[0].name_hint = self.random.choice(NAMES)
        return op

    def block(self, b: Builder, known: list[SSAValue], depth: int) -> list[SSAValue]:
        """Add a few ops; returns the values known after them."""
        known = list(known)
        steps: list[Callable[[Builder, list[SSAValue], int], list[SSAValue]]]
        steps = [self.arithmetic] * 6 + [self.variable, self.call]
        if depth < self.depth:
            steps += [self.selection, self.loop] * 2
        for _ in range(self.random.randint(0, 4)):
            known += self.random.choice(steps)(b, known, depth)
        return known

    def arithmetic(self, b: Builder, known: list[SSAValue], depth: int) -> list[SSAValue]:
        pick = lambda type: self.pick(b, known, type)  # noqa: E731
        makers: list[Callable[[], Operation]] = [
            lambda: spirv.IAddOp(pick(i32), pick(i32)),
            lambda: spirv.FMulOp(pick(f32), pick(f32)),
            lambda: spirv.SLessThanOp(pick(i32), pick(i32)),
            lambda: spirv.SelectOp(pick(i1), pick(f32), pick(f32)),
            lambda: spirv.GLExpOp(pick(f32)),
            lambda: spirv.SConvertOp(pick(i32), i64),
            lambda: spirv.FConvertOp(pick(f32), f16),
            lambda: spirv.CompositeConstructOp([pick(f32) for _ in range(4)], V4),
            lambda: spirv.VectorExtractDynamicOp(pick(V4), pick(i32)),
            lambda: spirv.DotOp(pick(V4), pick(V4)),
        ]
        op = b.insert(self.random.choice(makers)())
        if self.random.random() < 0.2 and isinstance(op, spirv.FMulOp):
            op.attributes["no_contraction"] = UnitAttr()
        return [self.named(op).results[0]]

    def variable(self, b: Builder, known: list[SSAValue], depth: int) -> list[SSAValue]:
        type = self.random.choice(TYPES)
        variable = b.insert(spirv.VariableOp(type))
        b.insert(spirv.StoreOp(variable, self.pick(b, known, type)))
        return [self.named(b.insert(spirv.LoadOp(variable))).results[0]]

    def call(self, b: Builder, known: list[SSAValue], depth: int) -> list[SSAValue]:
        if self.callee is not None:
            arguments = [self.pick(b, known, i32), self.pick(b, known, f32)]
            b.insert(spirv.FunctionCallOp(self.callee, arguments))
        return []

    def selection(self, b: Builder, known: list[SSAValue], depth: int) -> list[SSAValue]:
        count = self.random.randint(0, 2) if self.results else 0
        types = [self.random.choice(TYPES) for _ in range(count)]
        merge = Block(arg_types=types)
        merge.add_op(spirv.MergeOp(merge.args))
        condition = self.pick(b, known, i1)
        arms: list[Block] = []
        for _ in range(self.random.randint(1, 2)):
            arm = Block()
            inner = Builder(InsertPoint.at_end(arm))
            values = self.block(inner, known, depth + 1)
            inner.insert(spirv.BranchOp(merge, [self.pick(inner, values, t) for t in types]))
            arms.append(arm)
        header = Block()
        inner = Builder(InsertPoint.at_end(header))
        # Of a header that nests a selection MLIR 19 makes two merge instructions with one branch.
        values = self.block(inner, known, depth + 1 if self.results else self.depth)
        otherwise = arms[1] if len(arms) == 2 else merge
        extra = [] if len(arms) == 2 else [self.pick(inner, values, t) for t in types]
        inner.insert(spirv.BranchConditionalOp(condition, arms[0], otherwise, [], extra))
        return list(b.insert(spirv.SelectionOp([header, *arms, merge], None, types)).results)

    def loop(self, b: Builder, known: list[SSAValue], depth: int) -> list[SSAValue]:
        types = [i32, *(self.random.choice(TYPES) for _ in range(self.random.randint(0, 2)))]
        header = Block(arg_types=types)
        carried = [*known, *header.args]
        merge, body, onward = Block(), Block(), Block()
        entry = Block()
        inner = Builder(InsertPoint.at_end(entry))
        starts = [self.pick(b, known, type) for type in types]
        inner.insert(spirv.BranchOp(header, starts))
        inner = Builder(InsertPoint.at_end(header))
        values = self.block(inner, carried, depth + 1) if self.random.random() < 0.3 else carried
        inner.insert(spirv.BranchConditionalOp(self.pick(inner, values, i1), body, merge))
        inner = Builder(InsertPoint.at_end(body))
        values = self.block(inner, values, depth + 1)
        inner.insert(spirv.BranchOp(onward))
        inner = Builder(InsertPoint.at_end(onward))
        inner.insert(spirv.BranchOp(header, [self.pick(inner, values, type) for type in types]))
        results = header.args if self.results and self.random.random() < 0.5 else ()
        merge.add_op(spirv.MergeOp(results))
        blocks = [entry, header, body, onward, merge]
        loop = spirv.LoopOp(blocks, None, [value.type for value in results])
        return list(b.insert(loop).results)
