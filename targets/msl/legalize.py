"""SPIR-V to SPIR-V: what SPIRV-Cross prints wrongly, or not alike in every version.

The module that is shipped stays as it is; only what SPIRV-Cross reads is rewritten, into
instructions that 1.3.239 and later print right:

- `SRem` of unsigned types is printed as an unsigned remainder by older versions: it becomes
  `x - x / y * y` with `SDiv`, which every version casts.
- `FOrdNotEqual` is printed as `!=`, which is true for NaN: it becomes `x < y || x > y`.
- `FUnord...` comparisons are printed with `isunordered(...) ||`, which has no vector form: they
  become the negation of the opposite ordered comparison.
- Transcendental functions of halves are partly missing in MSL: they are computed in single
  precision and rounded, as its library does.
- Shuffles of 64-bit integers do not exist in MSL: they shuffle the two halves. Shuffles of bools
  do not either: they shuffle 0 and 1.
- `NoContraction` becomes a call per operation that the optimizer may not touch, and whose product
  of -0 is +0. In strict mode a pragma over the whole text says the same, so it is dropped.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass

from .math_mode import VARIANTS
from .words import HEADER_WORDS, Instruction, instructions

_EXT_INST_IMPORT, _EXT_INST = 11, 12
_TYPE_INT, _TYPE_FLOAT, _TYPE_VECTOR = 21, 22, 23
_FUNCTION, _VARIABLE, _DECORATE = 54, 59, 71
_WORKGROUP = 4
_TYPE_BOOL, _CONSTANT = 20, 43
_FCONVERT, _BITCAST, _SELECT, _INOT_EQUAL = 115, 124, 169, 171
_ISUB, _IMUL, _SDIV, _SREM, _SMOD = 130, 132, 135, 138, 139
_LOGICAL_OR, _LOGICAL_NOT = 166, 168
_UNORD_EQUAL, _ORD_NOT_EQUAL, _LESS, _GREATER = 181, 182, 184, 186
_LESS_EQUAL, _GREATER_EQUAL = 188, 190
_NO_CONTRACTION = 42
# "GLSL.std.450" as SPIR-V packs strings into words.
_GLSL_STD_450 = [0x4C534C47, 0x6474732E, 0x3035342E, 0]

# FUnordLessThan is the negation of FOrdGreaterThanEqual, and so on.
_OPPOSITE = {185: _GREATER_EQUAL, 187: _LESS_EQUAL, 189: _GREATER, 191: _LESS}
_SHUFFLES = frozenset({337, 338, 345, 346, 347, 348})
_GROUP_ARITHMETIC = frozenset(range(349, 362))
# SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote, older than the GroupNonUniform instructions.
_KHR_GROUP = frozenset({4421, 4422, 4428, 4429, 4430, 4432})

_Key = tuple[int, ...]


class UnsupportedInstruction(ValueError):
    """An instruction that MSL cannot express alike for every SPIRV-Cross, in one sentence."""


@dataclass(frozen=True)
class Legalized:
    """Words for SPIRV-Cross, and what the text will call."""

    words: array[int]
    functions: frozenset[int]
    """GLSL.std.450 instructions with variants that the module uses, all in single precision."""


def legalize(words: array[int], *, contraction: bool) -> Legalized:
    """Rewrite a module for SPIRV-Cross.

    With `contraction`, `NoContraction` stays as it is. Raises `UnsupportedInstruction` for what
    some version prints wrongly and no rewriting mends (`SMod`, initializers of threadgroup memory)
    and for what MSL lacks (SIMD-group reductions of 64-bit integers), `ValueError` for a module
    that is cut off.
    """
    rewriter = _Rewriter(words[3])
    for instruction in instructions(words):
        if not contraction and _is_no_contraction(instruction):
            continue
        rewriter.visit(instruction)
    result = words[:HEADER_WORDS]
    result[3] = rewriter.bound
    return Legalized(result + rewriter.declarations + rewriter.body, frozenset(rewriter.functions))


def _is_no_contraction(instruction: Instruction) -> bool:
    operands = instruction.operands
    return instruction.opcode == _DECORATE and len(operands) > 1 and operands[1] == _NO_CONTRACTION


class _Rewriter:
    """Copies instructions, or replaces them; new types are declared before the first function."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.declarations = array("I")
        self.body = array("I")
        self.functions: set[int] = set()
        self._glsl: set[int] = set()
        self._types: dict[_Key, int] = {}
        self._keys: dict[int, _Key] = {}
        self._in_functions = False
        self._handlers: dict[int, Callable[[array[int]], bool]] = {
            _EXT_INST: self._ext_inst,
            _SREM: self._srem,
            _SMOD: self._smod,
            **dict.fromkeys(_KHR_GROUP, self._khr_group),
            _ORD_NOT_EQUAL: self._ord_not_equal,
            _UNORD_EQUAL: self._unord_equal,
        }

    def visit(self, instruction: Instruction) -> None:
        """Take one instruction of the module, in order."""
        opcode, operands = instruction.opcode, instruction.operands
        if opcode == _FUNCTION:
            self._in_functions = True
        if not self._in_functions:
            self._declare(opcode, operands)
            if opcode == _VARIABLE and operands[2] == _WORKGROUP and len(operands) > 3:
                raise UnsupportedInstruction("older SPIRV-Cross drops threadgroup initializers")
            self.declarations += instruction.words
        elif not self._replace(opcode, operands):
            self.body += instruction.words

    def _replace(self, opcode: int, operands: array[int]) -> bool:
        if opcode in _OPPOSITE:
            ordered = self._new(_OPPOSITE[opcode], operands[0], operands[2], operands[3])
            self._emit(_LOGICAL_NOT, operands[0], operands[1], ordered)
            return True
        if opcode in _SHUFFLES:
            return self._shuffle(opcode, operands)
        if opcode in _GROUP_ARITHMETIC and self._is_int64(operands[0]):
            raise UnsupportedInstruction("MSL has no SIMD-group reduction of 64-bit integers")
        handler = self._handlers.get(opcode)
        return handler is not None and handler(operands)

    # Building.

    def _fresh(self) -> int:
        self.bound += 1
        return self.bound - 1

    def _emit(self, opcode: int, *operands: int) -> None:
        self.body.append((len(operands) + 1) << 16 | opcode)
        self.body.extend(operands)

    def _new(self, opcode: int, result_type: int, *operands: int) -> int:
        result = self._fresh()
        self._emit(opcode, result_type, result, *operands)
        return result

    # Types.

    def _declare(self, opcode: int, operands: array[int]) -> None:
        if opcode == _EXT_INST_IMPORT and operands[1:].tolist() == _GLSL_STD_450:
            self._glsl.add(operands[0])
        if opcode in (_TYPE_BOOL, _TYPE_INT, _TYPE_FLOAT, _TYPE_VECTOR):
            key = (opcode, *operands[1:])
            self._types[key] = operands[0]
            self._keys[operands[0]] = key

    def _type(self, *key: int) -> int:
        if key not in self._types:
            self._types[key] = self._fresh()
            self._keys[self._types[key]] = key
            opcode, *rest = key
            self.declarations.append((len(rest) + 2) << 16 | opcode)
            self.declarations.extend((self._types[key], *rest))
        return self._types[key]

    def _scalar(self, type_id: int) -> tuple[_Key, int]:
        """Key of the element type and the number of elements (1 for scalars)."""
        key = self._keys.get(type_id, (0,))
        if key[0] == _TYPE_VECTOR:
            return self._keys.get(key[1], (0,)), key[2]
        return key, 1

    def _like(self, count: int, *scalar: int) -> int:
        """The type of `count` elements."""
        element = self._type(*scalar)
        return element if count == 1 else self._type(_TYPE_VECTOR, element, count)

    def _constant(self, type_id: int, value: int) -> int:
        result = self._fresh()
        self.declarations.extend((4 << 16 | _CONSTANT, type_id, result, value))
        return result

    def _is_int64(self, type_id: int) -> bool:
        return self._scalar(type_id)[0][:2] == (_TYPE_INT, 64)

    # Replacements: each returns whether it replaced the instruction.

    def _ext_inst(self, operands: array[int]) -> bool:
        result_type, result, instruction_set, number, *arguments = operands
        if instruction_set not in self._glsl or number not in VARIANTS:
            return False
        self.functions.add(number)
        scalar, count = self._scalar(result_type)
        if scalar[:2] != (_TYPE_FLOAT, 16):
            return False
        wide = self._like(count, _TYPE_FLOAT, 32)
        widened = [self._new(_FCONVERT, wide, argument) for argument in arguments]
        value = self._new(_EXT_INST, wide, instruction_set, number, *widened)
        self._emit(_FCONVERT, result_type, result, value)
        return True

    def _srem(self, operands: array[int]) -> bool:
        result_type, result, x, y = operands
        quotient = self._new(_SDIV, result_type, x, y)
        product = self._new(_IMUL, result_type, quotient, y)
        self._emit(_ISUB, result_type, result, x, product)
        return True

    def _smod(self, operands: array[int]) -> bool:
        raise UnsupportedInstruction("SPIRV-Cross prints SMod differently in different versions")

    def _khr_group(self, operands: array[int]) -> bool:
        raise UnsupportedInstruction(
            "SPIRV-Cross prints SIMD-group votes of KHR extensions as GLSL"
        )

    def _ord_not_equal(self, operands: array[int]) -> bool:
        result_type, result, x, y = operands
        self._emit(_LOGICAL_OR, result_type, result, *self._less_and_greater(result_type, x, y))
        return True

    def _unord_equal(self, operands: array[int]) -> bool:
        result_type, result, x, y = operands
        differ = self._new(_LOGICAL_OR, result_type, *self._less_and_greater(result_type, x, y))
        self._emit(_LOGICAL_NOT, result_type, result, differ)
        return True

    def _less_and_greater(self, result_type: int, x: int, y: int) -> tuple[int, int]:
        return self._new(_LESS, result_type, x, y), self._new(_GREATER, result_type, x, y)

    def _shuffle(self, opcode: int, operands: array[int]) -> bool:
        result_type, result, scope, value, *lane = operands
        scalar, count = self._scalar(result_type)
        wide, boolean = scalar[:2] == (_TYPE_INT, 64), scalar == (_TYPE_BOOL,)
        if not (wide or boolean):
            return False
        if count > 1:
            kind = "64-bit" if wide else "bool"
            raise UnsupportedInstruction(f"MSL has no SIMD-group shuffle of {kind} vectors")
        carrier = self._like(2 if wide else 1, _TYPE_INT, 32, 0)
        if wide:
            halves = self._new(_BITCAST, carrier, value)
            moved = self._new(opcode, carrier, scope, halves, *lane)
            self._emit(_BITCAST, result_type, result, moved)
        else:
            one, zero = self._constant(carrier, 1), self._constant(carrier, 0)
            number = self._new(_SELECT, carrier, value, one, zero)
            moved = self._new(opcode, carrier, scope, number, *lane)
            self._emit(_INOT_EQUAL, result_type, result, moved, zero)
        return True
