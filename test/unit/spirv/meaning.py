"""What a disassembly says, without ids, names and the order of declarations."""

from __future__ import annotations

import re
from collections import Counter

_LINE = re.compile(r"(?:(%\d+) = )?(Op\w+) ?(.*)")
_ID = re.compile(r"%\d+")
_IGNORED = {"OpName", "OpMemberName", "OpSource"}

Line = tuple[str, str, str]
"""Result id (or nothing), opcode and operands."""


def meaning(assembly: str) -> dict[str, list[str]]:
    """The parts of a module in a normal form; `assembly` has numeric ids.

    Types and constants are expanded where they are used; globals and functions go by their names;
    other ids are numbered in the order in which a function uses them.
    """
    matches = (_LINE.match(line.strip()) for line in assembly.splitlines())
    lines = [(m[1] or "", m[2], m[3].rstrip()) for m in matches if m]
    names = {rest.split()[0]: rest.split('"')[1] for _, op, rest in lines if op == "OpName"}
    parts = _Parts(names)
    for line in _without_empty_jumps(lines):
        parts.add(line)
    return {
        "head": sorted(parts.head),
        "annotations": sorted(f"{op} {parts.expand(rest)}" for op, rest in parts.annotations),
        "functions": parts.functions,
    }


class _Parts:
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.head: list[str] = []
        self.annotations: list[tuple[str, str]] = []
        self.functions: list[str] = []
        self._expansions: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        self._locals: dict[str, str] = {}
        """Where each id of a function's body is first met, for its decorations."""
        self._in_function = False

    def expand(self, text: str) -> str:
        return _ID.sub(lambda match: self._expanded(match[0]), text)

    def _expanded(self, id: str) -> str:
        if id in self._expansions:
            return self._expansions[id]
        if not self._in_function:
            return self._locals.get(id) or f"@{self.names[id]}"
        number = self._numbers.setdefault(id, f"%{len(self._numbers)}")
        self._locals[id] = f"{number} of function {len(self.functions)}"
        return number

    def add(self, line: Line) -> None:
        id, opcode, rest = line
        if opcode in _IGNORED:
            return
        if opcode in ("OpDecorate", "OpMemberDecorate"):
            self.annotations.append((opcode, rest))
        elif opcode == "OpFunction":
            self._in_function, self._numbers = True, {}
            self._expansions[id] = f"@{self.names[id]}"
            self.functions.append(f"@{self.names[id]} {opcode} {self.expand(rest)}")
        elif self._in_function:
            rest = _sorted_phi(rest) if opcode == "OpPhi" else rest
            self.functions.append(f"{self.expand(id)} {opcode} {self.expand(rest)}")
            self._in_function = opcode != "OpFunctionEnd"
        elif opcode == "OpVariable":
            self._expansions[id] = f"@{self.names[id]}"
            self.head.append(f"@{self.names[id]} {opcode} {self.expand(rest)}")
        elif id:
            self._expansions[id] = f"({opcode} {self.expand(rest)})"
        else:
            self.head.append(f"{opcode} {self.expand(rest)}")


def _sorted_phi(operands: str) -> str:
    """The pairs of an OpPhi by their labels, which are numbered in the order of blocks."""
    type, *words = operands.split()
    pairs = sorted(zip(words[::2], words[1::2], strict=True), key=lambda p: int(p[1][1:]))
    return " ".join([type, *(word for pair in pairs for word in pair)])


def _without_empty_jumps(lines: list[Line]) -> list[Line]:
    """`OpBranch %x` and `%x = OpLabel` in a row say nothing where nothing else goes to %x."""
    uses = Counter(id for _, op, rest in lines if op != "OpPhi" for id in _ID.findall(rest))
    kept: list[Line] = []
    renamed: dict[str, str] = {}
    label = ""
    for line in lines:
        id, opcode, _ = line
        if opcode == "OpLabel":
            if kept[-1] == ("", "OpBranch", id) and uses[id] == 1:
                kept.pop()
                renamed[id] = label
                continue
            label = id
        kept.append(line)
    return [(id, op, _ID.sub(lambda m: renamed.get(m[0], m[0]), rest)) for id, op, rest in kept]
