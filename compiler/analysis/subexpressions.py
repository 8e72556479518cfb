"""Common subexpressions: an op that computes what another did before it, with the same operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Block, Operation, Region

from ingot.compiler.analysis.effects import Effect, class_effects, effect_of, is_dead

Key = tuple[object, ...]
OnErase = Callable[[Operation], None]


def eliminate_subexpressions(region: Region, on_erase: OnErase = lambda _: None) -> None:
    """Let the first of equal ops of a region compute for all, and erase what nothing needs.

    Ops that only read memory are equal while nothing between them in their block may write.
    `on_erase` is told of an op that is about to go.
    """
    _Elimination(on_erase).region(region)


@dataclass
class _Elimination:
    """The ops seen so far that still hold; scopes end with their region."""

    on_erase: OnErase
    known: dict[Key, list[Operation]] = field(default_factory=dict[Key, list[Operation]])
    writes_before: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """Of ops that read: how many ops of the block before it may write."""
    _numbers: dict[int, int] = field(default_factory=dict[int, int])
    """The number of an attribute by its identity; equal ones have one number."""
    _equal: dict[Attribute, int] = field(default_factory=dict[Attribute, int])
    _kept: list[Attribute] = field(default_factory=list[Attribute])
    """Holds what `_numbers` knows by identity."""

    def region(self, region: Region) -> None:
        """The ops of a region with a single block; several blocks need dominance."""
        block = region.first_block
        if block is None or block.next_block is not None:
            return
        added: list[Key] = []
        self._block(block, added)
        for key in added:
            self.known[key].pop()

    def _block(self, block: Block, added: list[Key]) -> None:
        writes = 0
        op = block.first_op
        while op is not None:
            following = op.next_op
            if op.regions:
                self._inside(op)
            known = class_effects(type(op))
            effect = known.effect if known.effect is not None else effect_of(op)
            if known.is_terminator:
                pass
            elif is_dead(op):
                self._erase(op)
            elif effect is Effect.OTHER:
                writes += 1
            else:
                self._share(op, effect, writes, added)
            op = following

    def _inside(self, op: Operation) -> None:
        if not class_effects(type(op)).is_isolated:
            for region in op.regions:
                self.region(region)
            return
        outer, self.known = self.known, {}
        for region in op.regions:
            self.region(region)
        self.known = outer

    def _share(self, op: Operation, effect: Effect, writes: int, added: list[Key]) -> None:
        """Use what an equal op computed, or remember that this one did."""
        if len(op.regions) > 0 and any(len(region.blocks) > 1 for region in op.regions):
            return
        key = self._key(op)
        earlier = self.known.setdefault(key, [])
        for candidate in reversed(earlier):
            if effect is Effect.READS and not (
                candidate.parent is op.parent and self.writes_before.get(candidate) == writes
            ):
                continue
            if op.regions and not _are_equal(op, candidate):
                continue
            for old, new in zip(op.results, candidate.results, strict=True):
                old.replace_all_uses_with(new)
            self._erase(op)
            return
        earlier.append(op)
        added.append(key)
        if effect is Effect.READS:
            self.writes_before[op] = writes

    def _key(self, op: Operation) -> Key:
        number = self._number
        operands = tuple([id(operand) for operand in op.operands])
        types = tuple([number(result.type) for result in op.results])
        if not op.attributes and len(op.properties) <= 1:
            named = tuple([(name, number(a)) for name, a in op.properties.items()])
            return (type(op), operands, types, named)
        named = tuple(sorted([(name, number(a)) for name, a in op.properties.items()]))
        others = tuple(sorted([(name, number(a)) for name, a in op.attributes.items()]))
        return (type(op), operands, types, named, others)

    def _number(self, attribute: Attribute) -> int:
        number = self._numbers.get(id(attribute))
        if number is None:
            number = self._equal.setdefault(attribute, len(self._equal))
            self._numbers[id(attribute)] = number
            self._kept.append(attribute)
        return number

    def _erase(self, op: Operation) -> None:
        self.on_erase(op)
        op.detach()
        op.erase()


def _are_equal(op: Operation, other: Operation) -> bool:
    pairs = zip(op.regions, other.regions, strict=True)
    return all(mine.is_structurally_equivalent(theirs) for mine, theirs in pairs)
