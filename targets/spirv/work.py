"""How much one invocation of a SPIR-V kernel computes, and how many values it holds at once.

Counts are static: a loop whose bounds are constants counts as often as it runs, both sides of a
branch count, and a function counts where it is called. They are upper bounds, exact where a kernel
has no guards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingot.targets.spirv.decoding import Raw, decode
from ingot.targets.spirv.grammar import Op

_FLOPS = {127: 0, 129: 1, 131: 1, 133: 1, 136: 1, 140: 1, 141: 1, 142: 1}
"""FNegate, FAdd, FSub, FMul, FDiv, FRem, FMod, VectorTimesScalar: operations for each component."""
_GROUP_FLOPS = frozenset({350, 352, 355, 358})
"""GroupNonUniformFAdd, FMul, FMin, FMax."""
_EXT_FMA = 50
_EXT_FLOAT = frozenset(range(1, 4)) | frozenset(range(8, 38)) | frozenset({79, 80})
"""Functions of GLSL.std.450 on floats: roundings, trigonometry, exponentials, minima and maxima."""
_COOPERATIVE_MULTIPLY, _COOPERATIVE_TYPE = 4459, 4456
_LABEL, _BRANCH_CONDITIONAL, _LOOP_MERGE = 248, 250, 246
_LOAD, _STORE, _ADD = 61, 62, 128
_LESS = frozenset({176, 177})
"""ULessThan, SLessThan."""
_FUNCTION_STORAGE = 7
_PORTABLE_MULTIPLY = "multiply_accumulate"
"""Part of the name of the function that stands for Apple's 8x8 multiply-accumulate."""
_PORTABLE_FLOPS = 2 * 8 * 8 * 8


@dataclass(frozen=True)
class Work:
    """What one invocation does."""

    flops: float
    """Floating-point operations: a multiply-add is two; of a matrix unit, this thread's share."""
    registers: int
    """32-bit values that are alive at once at most, by a linear scan: an estimate."""
    is_bounded: bool
    """Whether every loop's count is known; one that is not counts once."""
    uses_matrix_units: bool


@dataclass
class _Function:
    name: str
    body: list[Raw] = field(default_factory=list[Raw])


def kernel_work(binary: bytes, entry_point: str, simd_width: int) -> Work:
    """The work of an entry point; raises MalformedSpirv for what is no SPIR-V."""
    return _Counter(decode(binary).instructions, max(1, simd_width)).work(entry_point)


class _Counter:
    def __init__(self, instructions: Sequence[Raw], simd_width: int) -> None:
        self.simd_width = simd_width
        self.types: dict[int, Raw] = {}
        self.constants: dict[int, int] = {}
        self.functions: dict[int, _Function] = {}
        self.entries: dict[str, int] = {}
        self.is_bounded = True
        self.uses_matrix_units = False
        self._flops: dict[int, float] = {}
        names: dict[int, str] = {}
        current: _Function | None = None
        for raw in instructions:
            if raw.opcode == Op.Name:
                names[raw.words[0]] = _text(raw.words[1:])
            elif raw.opcode == Op.EntryPoint:
                self.entries[_text(raw.words[2:])] = raw.words[1]
            elif Op.TypeVoid <= raw.opcode <= Op.TypeFunction or raw.opcode == _COOPERATIVE_TYPE:
                self.types[raw.words[0]] = raw
            elif raw.opcode == Op.Constant:
                self.constants[raw.words[1]] = raw.words[2]
            elif raw.opcode == Op.Function:
                current = _Function(names.get(raw.words[1], ""))
                self.functions[raw.words[1]] = current
            elif raw.opcode == Op.FunctionEnd:
                current = None
            elif current is not None:
                current.body.append(raw)

    def work(self, entry_point: str) -> Work:
        function = self.entries[entry_point]
        flops = self._function_flops(function)
        called = self._called(function)
        registers = max(self._registers(self.functions[f].body) for f in called)
        return Work(flops, registers, self.is_bounded, self.uses_matrix_units)

    def _called(self, function: int) -> set[int]:
        found = {function}
        for raw in self.functions[function].body:
            if raw.opcode == Op.FunctionCall and raw.words[2] not in found:
                found |= self._called(raw.words[2])
        return found

    def _function_flops(self, function: int) -> float:
        if function not in self._flops:
            body = self.functions[function].body
            factors = self._factors(body)
            self._flops[function] = sum(
                self._single(raw) * factor for raw, factor in zip(body, factors, strict=True)
            )
            if _PORTABLE_MULTIPLY in self.functions[function].name:
                self.uses_matrix_units = True
                self._flops[function] = _PORTABLE_FLOPS / self.simd_width
        return self._flops[function]

    def _single(self, raw: Raw) -> float:
        """Operations of one instruction."""
        if raw.opcode in _FLOPS:
            return _FLOPS[raw.opcode] * self._components(raw.words[0])
        if raw.opcode in _GROUP_FLOPS:
            return self._components(raw.words[0])
        if raw.opcode == Op.ExtInst:
            number = raw.words[3]
            each = 2 if number == _EXT_FMA else int(number in _EXT_FLOAT)
            return each * self._components(raw.words[0]) if self._is_float(raw.words[0]) else 0
        if raw.opcode == Op.FunctionCall:
            return self._function_flops(raw.words[2])
        if raw.opcode == _COOPERATIVE_MULTIPLY:
            self.uses_matrix_units = True
            # Result type: component, scope, rows, columns, use; the depth is that of operand A.
            type_ = self.types[raw.words[0]]
            rows, columns = (self.constants.get(type_.words[i], 16) for i in (3, 4))
            return 2.0 * rows * columns * 16 / self.simd_width
        return 0

    def _components(self, type_id: int) -> int:
        type_ = self.types.get(type_id)
        return type_.words[2] if type_ is not None and type_.opcode == Op.TypeVector else 1

    def _is_float(self, type_id: int) -> bool:
        type_ = self.types.get(type_id)
        if type_ is not None and type_.opcode == Op.TypeVector:
            return self._is_float(type_.words[1])
        return type_ is not None and type_.opcode == Op.TypeFloat

    def _factors(self, body: Sequence[Raw]) -> list[float]:
        """How often each instruction of a function runs."""
        factors = [1.0] * len(body)
        for start, end in self._loops(body):
            count = self._turns(body, start, end)
            if count is None:
                self.is_bounded = False
                continue
            for i in range(start, end):
                factors[i] *= count
        return factors

    def _loops(self, body: Sequence[Raw]) -> list[tuple[int, int]]:
        """Positions of each loop's header and of the block that follows the loop."""
        labels = {raw.words[0]: i for i, raw in enumerate(body) if raw.opcode == _LABEL}
        loops: list[tuple[int, int]] = []
        header = 0
        for i, raw in enumerate(body):
            if raw.opcode == _LABEL:
                header = i
            elif raw.opcode == _LOOP_MERGE:
                loops.append((header, labels[raw.words[0]]))
        return loops

    def _turns(self, body: Sequence[Raw], start: int, end: int) -> float | None:
        """How often `for (i = a; i < b; i += c)` runs, where `b` and `c` are constants.

        Where `a` is none, threads begin at their own places before `c`, and 0 stands for them all.
        """
        made = {r.words[1]: r for r in body if len(r.words) > 1 and r.words[0] in self.types}
        branch = next(r for r in body[start:end] if r.opcode == _BRANCH_CONDITIONAL)
        compare = made.get(branch.words[0])
        if compare is None or compare.opcode not in _LESS:
            return None
        load, upper = made.get(compare.words[2]), self.constants.get(compare.words[3])
        if load is None or load.opcode != _LOAD or upper is None:
            return None
        variable = load.words[2]
        stores = [(i, r.words[1]) for i, r in enumerate(body) if _is_store(r, variable)]
        first = [self.constants.get(value) for i, value in stores if i < start]
        steps = [made.get(value) for i, value in stores if start <= i < end]
        if not first or len(steps) != 1 or steps[0] is None:
            return None
        step = next((self.constants[w] for w in steps[0].words[2:] if w in self.constants), None)
        if steps[0].opcode != _ADD or not step:
            return None
        return max(0, -(-(upper - (first[-1] or 0)) // step))

    def _registers(self, body: Sequence[Raw]) -> int:
        """The most 32-bit words of results and variables that are alive at once."""
        loops = self._loops(body)
        sizes: dict[int, int] = {}
        defined: dict[int, int] = {}
        last: dict[int, int] = {}
        fixed = 0
        for i, raw in enumerate(body):
            if raw.opcode == Op.Variable and raw.words[2] == _FUNCTION_STORAGE:
                fixed += self._words(self.types[raw.words[0]].words[2])
                continue
            for word in raw.words[1:]:
                if word in defined:
                    last[word] = max(last.get(word, i), self._use(i, defined[word], loops))
            if len(raw.words) > 1 and raw.words[0] in self.types and raw.opcode != _STORE:
                sizes[raw.words[1]] = self._words(raw.words[0])
                defined[raw.words[1]] = i
        changes = [0] * (len(body) + 2)
        for value, start in defined.items():
            if value in last:
                changes[start] += sizes[value]
                changes[last[value]] -= sizes[value]
        most = alive = 0
        for change in changes:
            alive += change
            most = max(most, alive)
        return most + fixed

    def _use(self, use: int, definition: int, loops: Sequence[tuple[int, int]]) -> int:
        """Where a value that is used at `use` may be forgotten: after the loops that it enters."""
        ends = [end for start, end in loops if definition < start <= use < end]
        return max(ends, default=use)

    def _words(self, type_id: int) -> int:
        type_ = self.types.get(type_id)
        match type_.opcode if type_ is not None else 0:
            case Op.TypeVector:
                assert type_ is not None
                return -(-self._bits(type_.words[1]) * type_.words[2] // 32)
            case Op.TypeArray:
                assert type_ is not None
                return self._words(type_.words[1]) * self.constants.get(type_.words[2], 1)
            case 4456:
                assert type_ is not None
                rows, columns = (self.constants.get(type_.words[i], 16) for i in (3, 4))
                bits = self._bits(type_.words[1])
                return -(-rows * columns * bits // (32 * self.simd_width))
            case Op.TypeVoid:
                return 0
            case _:
                return 1

    def _bits(self, type_id: int) -> int:
        type_ = self.types.get(type_id)
        return type_.words[1] if type_ is not None and len(type_.words) > 1 else 32


def _is_store(raw: Raw, variable: int) -> bool:
    return raw.opcode == _STORE and raw.words[0] == variable


def _text(words: Sequence[int]) -> str:
    data = b"".join(word.to_bytes(4, "little") for word in words)
    return data.split(b"\0", 1)[0].decode("utf-8", "replace")
