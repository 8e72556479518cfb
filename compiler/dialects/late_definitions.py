"""Read the definition of an op when the op is first used.

xDSL turns the fields of an op class into a definition with constraints and accessors when the class
is made: 0.1 ms for each of the 580 ops of the dialects that a small program loads, of which it uses
sixty. `docs/upstream` says more; importing `ingot.compiler.dialects` puts the change in place. A
class whose definition is wrong is found by the tests, which make the definition of every op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, cast

from xdsl.ir import Operation, OpTraits
from xdsl.irdl import IRDLOperation, OpDef, operations

from ingot.compiler.dialects.quick_accessors import quick_accessor

OpType = type[IRDLOperation]
CustomVerify = Callable[[IRDLOperation], None] | None

_define = OpDef.from_pyrdl
_accessors = operations.get_accessors_from_op_def

_FIELDS = (
    operations._ResultFieldDef,  # pyright: ignore[reportPrivateUsage]
    operations._OperandFieldDef,  # pyright: ignore[reportPrivateUsage]
    operations._AttributeFieldDef,  # pyright: ignore[reportPrivateUsage]
    operations._PropertyFieldDef,  # pyright: ignore[reportPrivateUsage]
    operations._RegionFieldDef,  # pyright: ignore[reportPrivateUsage]
    operations._SuccessorFieldDef,  # pyright: ignore[reportPrivateUsage]
)


def install() -> None:
    """Make `irdl_op_definition` define late; doing it twice does no more."""
    OpDef.from_pyrdl = staticmethod(cast("Any", LateDefinition))
    operations.get_accessors_from_op_def = _late_accessors


class LateDefinition:
    """Stands for the `OpDef` of a class until something of it is needed."""

    def __init__(self, op_type: OpType) -> None:
        self._op_type = op_type
        self._known: OpDef | None = None
        self._before = dict(vars(op_type))
        self._stand_ins: frozenset[str] = frozenset()
        self._custom_verify: CustomVerify = None

    def stand_ins(self, custom_verify: CustomVerify) -> dict[str, Any]:
        """What the class has in place of accessors: the first use of any makes all of them."""
        self._custom_verify = custom_verify
        op_type = self._op_type

        def get_irdl_definition(cls: OpType) -> OpDef:
            return self.definition

        def verify_(op: IRDLOperation) -> None:
            self._settled("verify_")(op)

        made: dict[str, Any] = {
            name: _StandIn(self, name)
            for parent in _classes_with_fields(op_type)
            for name, value in vars(parent).items()
            if isinstance(value, _FIELDS)
        }
        made["get_irdl_definition"] = classmethod(get_irdl_definition)
        made["verify_"] = verify_
        if op_type.assembly_format is not None:

            def parse(cls: OpType, parser: Any) -> IRDLOperation:
                return self._settled("parse").__func__(cls, parser)

            def print_(op: IRDLOperation, printer: Any) -> None:
                self._settled("print")(op, printer)

            made["parse"] = classmethod(parse)
            made["print"] = print_
        made["traits"] = _merged_traits(op_type)
        self._stand_ins = frozenset(made)
        return made

    def _settled(self, name: str) -> Any:
        """What the class itself has under this name in the end; a subclass may have another."""
        self.settle()
        return vars(self._op_type)[name]

    @property
    def definition(self) -> OpDef:
        """The definition; raises `PyRDLOpDefinitionError` where the fields make none."""
        return self.settle()

    def settle(self) -> OpDef:
        """Give the class its definition and its accessors."""
        if self._known is None:
            op_type, now = self._op_type, dict(vars(self._op_type))
            later = {name: value for name, value in now.items() if name not in self._before}
            for name in later:
                delattr(op_type, name)
            for name, value in self._before.items():
                if now[name] is not value:
                    setattr(op_type, name, value)
            try:
                self._known = _define(op_type)
            except BaseException:
                for name, value in now.items():
                    if vars(op_type).get(name) is not value:
                        setattr(op_type, name, value)
                raise
            for name, value in _accessors(self._known, self._custom_verify).items():
                setattr(op_type, name, quick_accessor(value))
            for name, value in later.items():
                if name not in self._stand_ins:
                    setattr(op_type, name, value)
            op_type.traits = self._known.traits = now["traits"]
        return self._known


class _StandIn:
    """Stands for an accessor."""

    __slots__ = ("_late", "_name")

    def __init__(self, late: LateDefinition, name: str) -> None:
        self._late = late
        self._name = name

    def __get__(self, op: IRDLOperation | None, op_type: OpType) -> Any:
        self._late.settle()
        return getattr(op_type if op is None else op, self._name)

    def __set__(self, op: IRDLOperation, value: object) -> None:
        self._late.settle()
        setattr(op, self._name, value)


def _late_accessors(op_def: OpDef | LateDefinition, custom_verify: CustomVerify) -> dict[str, Any]:
    if isinstance(op_def, LateDefinition):
        return op_def.stand_ins(custom_verify)
    return _accessors(op_def, custom_verify)


_ABOVE = frozenset(Operation.__mro__)


def _classes_with_fields(op_type: OpType) -> list[type]:
    """As `OpDef.from_pyrdl` looks at them."""
    return [cls for cls in op_type.__mro__ if cls is not Generic and cls not in _ABOVE]


def _merged_traits(op_type: OpType) -> OpTraits:
    """The traits of a class and of all that it derives from."""
    given = [
        traits
        for cls in _classes_with_fields(op_type)
        if isinstance(traits := vars(cls).get("traits"), OpTraits)
    ]
    if len(given) == 1:
        return given[0]
    return OpTraits(lambda: tuple(trait for traits in given for trait in traits.gen_traits()))
