"""Rewrite ops by the patterns of their class, until nothing changes.

xDSL's `PatternRewriteWalker` asks one pattern about every op, and removes dead ops by walks of
their own. Most ops have no pattern and are not dead: here they cost a look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.folder import Folder
from xdsl.ir import Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriterListener, RewritePattern
from xdsl.rewriter import InsertPoint

from ingot.compiler.analysis.effects import is_dead


@dataclass(frozen=True, slots=True)
class ClassRules:
    """What may be done to the ops of a class."""

    folds: bool = False
    patterns: tuple[RewritePattern, ...] = ()
    applies: Callable[[Operation], bool] | None = None
    """Where given, neither folds nor patterns act on ops for which this is false."""


@dataclass
class ClassRewriter:
    """Rewrites the ops of a region in their order, and those around a change again.

    Folding needs `context`, whose dialects make the constants.
    """

    rules_of: Callable[[type[Operation]], ClassRules]
    context: Context | None = None
    far: bool = False
    """Whether rules look at more than an op, its operands' makers, its users and what it holds."""
    _rules: dict[type[Operation], ClassRules] = field(
        default_factory=dict[type[Operation], ClassRules]
    )
    _waiting: list[Operation] = field(default_factory=list[Operation])
    """A stack; an op that was erased meanwhile has no parent."""
    _listed: set[int] = field(default_factory=set[int])
    """Identities of the ops in the stack."""
    _around: set[Operation] = field(default_factory=set[Operation])
    """What the next round tries."""

    def __post_init__(self) -> None:
        self._folder = Folder(self.context) if self.context is not None else None
        self._listener = PatternRewriterListener(
            operation_insertion_handler=[self._on_change],
            operation_removal_handler=[self._on_removal],
            operation_modification_handler=[self._on_change],
            operation_replacement_handler=[self._on_replacement],
        )

    def rewrite(self, region: Region) -> None:
        """Rewrite the ops inside `region` until no rule applies.

        After a round over all ops come rounds over those around a change: what uses the results of
        a changed op or makes its operands, and the ops that hold it. With `far` rules look further,
        and every round is over all ops until one changes nothing.
        """
        changed = self._round(list(region.walk()))
        while changed:
            around, self._around = self._around, set()
            changed = self._round([op for op in region.walk() if self.far or op in around])

    def _round(self, ops: Sequence[Operation]) -> bool:
        for op in reversed(ops):
            self._push(op)
        changed = False
        rewriter: PatternRewriter | None = None
        while self._waiting:
            op = self._waiting.pop()
            self._listed.discard(id(op))
            if op.parent is None:
                continue
            if is_dead(op):
                self._on_removal(op)
                op.detach()
                op.erase()
                changed = True
                continue
            rules = self._rules_of(type(op))
            if rules is None or (rules.applies is not None and not rules.applies(op)):
                continue
            if rewriter is None:
                rewriter = PatternRewriter(op)
                rewriter.extend_from_listener(self._listener)
            rewriter.has_done_action = False
            rewriter.current_operation = op
            rewriter.insertion_point = InsertPoint.before(op)
            rewriter.name_hint = None
            self._apply(op, rules, rewriter)
            changed |= rewriter.has_done_action
        return changed

    def _rules_of(self, op_type: type[Operation]) -> ClassRules | None:
        rules = self._rules.get(op_type)
        if rules is None:
            rules = self._rules[op_type] = self.rules_of(op_type)
        return rules if rules.folds or rules.patterns else None

    def _apply(self, op: Operation, rules: ClassRules, rewriter: PatternRewriter) -> None:
        if rules.folds and self._folder is not None:
            folded = self._folder.try_fold(op)
            if folded is not None:
                values, constants = folded
                rewriter.replace(op, constants, values)
                return
        for pattern in rules.patterns:
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return

    def _push(self, op: Operation) -> None:
        if id(op) not in self._listed:
            self._listed.add(id(op))
            self._waiting.append(op)

    def _on_change(self, op: Operation) -> None:
        self._push(op)
        self._note(op)
        for result in op.results:
            for use in result.uses:
                self._note(use.operation)

    def _on_removal(self, op: Operation) -> None:
        """Look again at what made the operands: it may be dead, or have one user left."""
        self._note(op)
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation):
                self._note(owner)
                if operand.has_one_use():
                    self._push(owner)

    def _on_replacement(self, op: Operation, results: Sequence[SSAValue | None]) -> None:
        for result in op.results:
            for use in result.uses:
                self._push(use.operation)
                self._note(use.operation)

    def _note(self, op: Operation) -> None:
        """Try an op and those that hold it in the next round."""
        if self.far:
            return
        around: Operation | None = op
        while around is not None and around.parent is not None:
            self._around.add(around)
            around = around.parent_op()
