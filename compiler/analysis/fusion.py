"""Which structured ops run in one kernel: a pure function from a small graph to groups.

Two kinds of groups exist (docs/architecture.md, L2). In a *pointwise* group every op has the same
parallel loops, and its other loops are reductions. In a *row* group the ops share leading parallel
"row" loops, and each op then walks over the inside of a row: elementwise, or reducing it whole.
Groups of other kinds are given, and stay as they are.

Groups grow along edges, in program order, and recompute next to nothing: an op belongs to one
group, and a value that two groups need is stored. What a convolution reads, its padding, is
computed where it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from math import prod

from ingot.compiler.analysis.fusion_graph import Group, GroupKind, Limits, Node, Read, Role


@dataclass
class _Growing:
    nodes: list[int]
    kind: GroupKind
    shared: dict[int, tuple[int, ...]]
    extents: tuple[int, ...]


@dataclass
class _Grouping:
    nodes: Sequence[Node]
    escapes: frozenset[int]
    limits: Limits
    attentions: Sequence[Sequence[int]]
    of_node: list[_Growing] = field(default_factory=list["_Growing"])
    producer: dict[int, int] = field(default_factory=dict[int, int])
    users: dict[int, set[int]] = field(default_factory=dict[int, set[int]])

    def __post_init__(self) -> None:
        for i, node in enumerate(self.nodes):
            loops = node.parallel_loops
            kind: GroupKind = "pointwise"
            if node.role is Role.ROW_REDUCTION:
                kind = "row"
            elif node.role is Role.SCAN:
                kind = "scan"
            self.of_node.append(
                _Growing([i], kind, {i: loops}, tuple(node.extents[j] for j in loops))
            )
            for value in node.results:
                self.producer[value] = i
            for read in node.reads:
                self.users.setdefault(read.value, set()).add(i)
        for nodes in self.attentions:
            group = _Growing(list(nodes), "attention", dict.fromkeys(nodes, ()), ())
            for i in nodes:
                self.of_node[i] = group

    def merge_all(self) -> None:
        for i, node in enumerate(self.nodes):
            # The nearest producers first: what was computed last is most likely in the same row.
            for read in sorted(node.reads, key=lambda r: -self.producer.get(r.value, -1)):
                source = self.producer.get(read.value)
                if source is not None and read.direct:
                    self.try_merge(self.of_node[source], self.of_node[i])

    def merge_siblings(self) -> None:
        """Let reductions over equal loops share a kernel though none reads the other.

        Small ones save a dispatch; those that reduce the same values read them once.
        """
        alike: dict[tuple[int, ...], list[_Growing]] = {}
        for group in {id(group): group for group in self.of_node}.values():
            if self._is_reduction(group):
                alike.setdefault(group.extents, []).append(group)
        for groups in alike.values():
            merged: list[_Growing] = []
            for group in groups:
                for i, other in enumerate(merged):
                    both = self._siblings(other, group)
                    if both is not None:
                        merged[i] = both
                        break
                else:
                    merged.append(group)

    def _is_reduction(self, group: _Growing) -> bool:
        roots = [self.nodes[i] for i in self._roots(group)]
        return (
            group.kind == "pointwise"
            and bool(roots)
            and all(node.role is Role.REDUCTION for node in roots)
        )

    def _is_small(self, group: _Growing) -> bool:
        elements = sum(prod(self.nodes[i].extents) for i in self._roots(group))
        return elements <= self.limits.max_row_elements

    def _reduce_the_same(self, first: _Growing, second: _Growing) -> bool:
        """Whether all reductions have equal loops, and those of both groups read a value alike."""
        roots = [(group, i) for group in (first, second) for i in self._roots(group)]
        if len({self._inner_extents(i, group) for group, i in roots}) > 1:
            return False
        mine, others = (
            {walk for i in self._roots(g) for walk in self.nodes[i].walks(g.shared[i])}
            for g in (first, second)
        )
        return not mine.isdisjoint(others)

    def _siblings(self, first: _Growing, second: _Growing) -> _Growing | None:
        """One kernel for two that do not need each other."""
        if self._depends([first], second) or self._depends([second], first):
            return None
        nodes = sorted(first.nodes + second.nodes)
        both = _Growing(nodes, "pointwise", first.shared | second.shared, first.extents)
        orders = self._result_orders(both)
        if not self._fits(both):
            return None
        if not self._is_small(both) and not self._reduce_the_same(first, second):
            return None
        if any(order != orders[0] for order in orders):
            return None
        for node in nodes:
            self.of_node[node] = both
        return both

    def try_merge(self, first: _Growing, second: _Growing) -> None:
        if first is second or {first.kind, second.kind} & {"scan", "attention"}:
            return
        reads = self._reads_between(first, second)
        if reads is None:
            return
        merged = None
        if "row" not in (first.kind, second.kind):
            merged = self._merge_pointwise(first, second, reads) or self._merge_inputs(
                first, second
            )
        merged = merged or self._merge_rows(self._as_rows(first), self._as_rows(second), reads)
        if merged is None or not self._fits(merged) or self._would_cycle(first, second):
            return
        for i in merged.nodes:
            self.of_node[i] = merged

    def _reads_between(
        self, first: _Growing, second: _Growing
    ) -> list[tuple[int, Read, int]] | None:
        """(reader, read, producer) from `first` to `second`; None when they must stay apart."""
        found: list[tuple[int, Read, int]] = []
        inside = set(first.nodes)
        for i in second.nodes:
            for read in self.nodes[i].reads:
                source = self.producer.get(read.value)
                if source in inside:
                    if not read.direct:
                        return None
                    found.append((i, read, source))
        back = set(second.nodes)
        if any(
            self.producer.get(r.value) in back for i in first.nodes for r in self.nodes[i].reads
        ):
            return None
        return found

    def _write(self, value: int, producer: int) -> tuple[int, ...]:
        node = self.nodes[producer]
        return node.writes[node.results.index(value)]

    def _roots(self, group: _Growing) -> list[int]:
        return [i for i in group.nodes if self.nodes[i].role is not Role.ELEMENTWISE]

    def _merge_pointwise(
        self, first: _Growing, second: _Growing, reads: list[tuple[int, Read, int]]
    ) -> _Growing | None:
        """One parallel loop nest for both, when every value crosses element by element."""
        roots = [*self._roots(first), *self._roots(second)]
        if len(roots) > 1:
            return None
        if any(self.nodes[i].role is Role.CONTRACTION for i in roots) and any(
            self.nodes[i].branches for group in (first, second) for i in group.nodes
        ):
            return None
        to_first: dict[int, int] = {}
        for reader, read, producer in reads:
            for written, loop in zip(self._write(read.value, producer), read.loops, strict=True):
                a = _index(first.shared[producer], written)
                b = None if loop is None else _index(second.shared[reader], loop)
                if a is None or b is None or to_first.setdefault(b, a) != a:
                    return None
                if first.extents[a] != second.extents[b]:
                    return None
        count = len(first.extents)
        if len(second.extents) != count or len(set(to_first.values())) != count:
            return None
        merged = self._joined(first, second, to_first, "pointwise")
        return merged if self._keeps_order(merged) else None

    def _merge_inputs(self, first: _Growing, second: _Growing) -> _Growing | None:
        """Cheap ops that make what a contraction alone reads: they share no loops with it."""
        inside = {*first.nodes, *second.nodes}
        readers = [i for i in second.nodes if self.nodes[i].takes_inputs]
        values = {v for i in first.nodes for v in self.nodes[i].results}
        outside = [i for i in second.nodes if i not in readers and second.shared[i]]
        if not readers or not all(self.nodes[i].cheap for i in first.nodes):
            return None
        # A filter that is turned round is stored: a tile of it must be a slice of a tensor.
        moved = any(None in read.loops for i in first.nodes for read in self.nodes[i].reads)
        taken = [read for i in readers for read in self.nodes[i].reads if read.value in values]
        if moved and any(None not in read.loops for read in taken):
            return None
        if any(self.is_stored(value, list(inside)) for value in values) or any(
            read.value in values for i in outside for read in self.nodes[i].reads
        ):
            return None
        shared = dict.fromkeys(first.nodes, ()) | second.shared
        return _Growing(sorted(inside), "pointwise", shared, second.extents)

    def _keeps_order(self, group: _Growing) -> bool:
        """Whether the tiles of a contraction are stored as they are, or transposed."""
        roots = [i for i in group.nodes if self.nodes[i].role is Role.CONTRACTION]
        orders = self._result_orders(group)
        if not roots or not orders:
            return True
        if any(order != orders[0] for order in orders):
            return False
        root = self.nodes[roots[0]]
        stored = [group.shared[roots[0]][k] for k in orders[0]]
        rest = stored[len(root.leading) :]
        exchanges = [[loop for block in p for loop in block] for p in permutations(root.blocks)]
        return stored[: len(root.leading)] == list(root.leading) and rest in exchanges

    def _result_orders(self, group: _Growing) -> list[list[int]]:
        """For each stored result the shared loops by which its dimensions are indexed."""
        return [
            [group.shared[i].index(loop) for loop in write]
            for i in group.nodes
            for value, write in zip(self.nodes[i].results, self.nodes[i].writes, strict=True)
            if self.is_stored(value, group.nodes)
        ]

    def is_stored(self, value: int, inside: Sequence[int]) -> bool:
        """Whether anything but the nodes `inside` uses a value."""
        return value in self.escapes or not self.users.get(value, set()) <= set(inside)

    def _as_rows(self, group: _Growing) -> _Growing:
        """A group of short reductions as one of rows, each of which they reduce."""
        roots = [self.nodes[i] for i in self._roots(group)]
        if group.kind != "pointwise" or not roots or not all(node.in_rows for node in roots):
            return group
        return replace(group, kind="row")

    def _merge_rows(
        self, first: _Growing, second: _Growing, reads: list[tuple[int, Read, int]]
    ) -> _Growing | None:
        """One set of rows for both. A group that is not of rows yet takes the other's rows."""
        if "row" not in (first.kind, second.kind):
            return None
        for group in (first, second):
            if group.kind == "pointwise" and self._roots(group):
                return None
        to_first: dict[int, int] = {}
        for reader, read, producer in reads:
            for written, loop in zip(self._write(read.value, producer), read.loops, strict=True):
                if loop is None:
                    return None
                a = _index(first.shared[producer], written)
                b = _index(second.shared[reader], loop)
                a_is_row = a is not None and first.kind == "row"
                b_is_row = b is not None and second.kind == "row"
                if not a_is_row and not b_is_row:
                    continue
                if a is None or b is None or first.extents[a] != second.extents[b]:
                    return None
                if to_first.setdefault(b, a) != a:
                    return None
        rows = first.extents if first.kind == "row" else second.extents
        if len(to_first) != len(rows) or len(set(to_first.values())) != len(rows):
            return None
        merged = self._joined(first, second, to_first, "row")
        if not all(self._keeps_rows(i, merged) for i in merged.nodes):
            return None
        if prod(merged.extents) < self.limits.min_rows and any(
            prod(self._inner_extents(i, merged)) > self.limits.max_row_elements
            for i in merged.nodes
        ):
            return None
        return merged

    def _keeps_rows(self, node: int, group: _Growing) -> bool:
        """Whether a node writes whole rows in order, and reads those of its group the same way."""
        shared, inner = group.shared[node], self.nodes[node].inner_loops(group.shared[node])
        for write in self.nodes[node].writes:
            if set(write[: len(shared)]) != set(shared) or list(write[len(shared) :]) not in (
                [],
                inner,
            ):
                return False
        for read in self.nodes[node].reads:
            producer = self.producer.get(read.value)
            if producer not in group.shared:
                continue
            write = self._write(read.value, producer)
            if len(write) == len(shared):
                continue  # one value per row
            if [i for i in read.loops if i not in shared] != inner:
                return False
            if self._inner_extents(node, group) != self._inner_extents(producer, group):
                return False
        return True

    def _inner_extents(self, node: int, group: _Growing) -> tuple[int, ...]:
        inner = self.nodes[node].inner_loops(group.shared[node])
        return tuple(self.nodes[node].extents[i] for i in inner)

    def _joined(
        self, first: _Growing, second: _Growing, to_first: dict[int, int], kind: GroupKind
    ) -> _Growing:
        """The union, with the shared loops in the order of `first` (rows: of the row group)."""
        pairs = sorted((a, b) for b, a in to_first.items())
        if kind == "row" and first.kind != "row":
            pairs.sort(key=lambda pair: pair[1])
        # Ops that make inputs of a contraction share no loops.
        shared = {
            i: tuple(loops[a] for a, _ in pairs if loops) for i, loops in first.shared.items()
        }
        shared |= {
            i: tuple(loops[b] for _, b in pairs if loops) for i, loops in second.shared.items()
        }
        extents = tuple(first.extents[a] for a, _ in pairs)
        return _Growing(sorted(first.nodes + second.nodes), kind, shared, extents)

    def _fits(self, group: _Growing) -> bool:
        made = {v for i in group.nodes for v in self.nodes[i].results}
        inputs = {r.value for i in group.nodes for r in self.nodes[i].reads} - made
        outputs = {v for v in made if self.is_stored(v, group.nodes)}
        return len(inputs) + len(outputs) <= self.limits.max_operands

    def finished(self, group: _Growing) -> Group:
        """The group, with the shared loops of a pointwise one in the order of its last result."""
        shared = group.shared
        orders = self._result_orders(group) if group.kind == "pointwise" else []
        if orders:
            shared = {
                i: tuple(loops[k] for k in orders[-1] if loops) for i, loops in shared.items()
            }
        return Group(tuple(group.nodes), group.kind, shared)

    def _would_cycle(self, first: _Growing, second: _Growing) -> bool:
        """Whether something outside both depends on `first` and is needed by `second`."""
        between = [g for g in self._sources(second) if g is not first and g is not second]
        return self._depends(between, first)

    def _depends(self, groups: Sequence[_Growing], other: _Growing) -> bool:
        """Whether one of `groups` needs something that `other` makes, directly or not."""
        stack = list(groups)
        seen = {id(g) for g in stack}
        while stack:
            for source in self._sources(stack.pop()):
                if source is other:
                    return True
                if id(source) not in seen:
                    seen.add(id(source))
                    stack.append(source)
        return False

    def _sources(self, group: _Growing) -> list[_Growing]:
        found: dict[int, _Growing] = {}
        for i in group.nodes:
            for read in self.nodes[i].reads:
                source = self.producer.get(read.value)
                if source is not None and self.of_node[source] is not group:
                    found[id(self.of_node[source])] = self.of_node[source]
        return list(found.values())


def _index(values: Sequence[int], value: int) -> int | None:
    return values.index(value) if value in values else None


def form_groups(
    nodes: Sequence[Node],
    escapes: frozenset[int],
    limits: Limits | None = None,
    attentions: Sequence[Sequence[int]] = (),
) -> list[Group]:
    """Partition `nodes` (in program order) into kernels, ordered so that producers come first.

    `escapes` are the values that something other than a node uses, so that a kernel stores them;
    `attentions` are the nodes of each attention, which are a kernel.
    """
    grouping = _Grouping(nodes, escapes, limits or Limits(), attentions)
    grouping.merge_all()
    grouping.merge_siblings()
    ordered: list[Group] = []
    done: set[int] = set()

    def emit(group: _Growing) -> None:
        if id(group) in done:
            return
        done.add(id(group))
        for source in grouping._sources(group):  # pyright: ignore[reportPrivateUsage]
            emit(source)
        ordered.append(grouping.finished(group))

    for group in grouping.of_node:
        emit(group)
    return ordered
