"""The host program of a variant as readable text: what `ingot inspect --plan` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from ingot.targets.bundle import model
from ingot.tools.bundle_text import operand_text, parameter_name, spell
from ingot.tools.units import size_text

_SIGNS = {
    model.Operation.ADD: "{} + {}",
    model.Operation.SUBTRACT: "{} - {}",
    model.Operation.MULTIPLY: "{} * {}",
    model.Operation.DIVIDE: "{} / {}",
    model.Operation.REMAINDER: "{} mod {}",
    model.Operation.MINIMUM: "min({}, {})",
    model.Operation.MAXIMUM: "max({}, {})",
    model.Operation.EQUAL: "{} == {}",
    model.Operation.LESS: "{} < {}",
}


def plan_text(bundle: model.Bundle, variant: model.Variant) -> str:
    """Every function's setup and commands; commands between two barriers run in any order."""
    parts = [
        "\n".join(_Plan(bundle, variant, function).lines(body))
        for function, body in zip(bundle.functions, variant.bodies, strict=True)
    ]
    return "\n\n".join(parts)


class _Plan:
    """Speaks of one function's storage by its names."""

    def __init__(
        self, bundle: model.Bundle, variant: model.Variant, function: model.Function
    ) -> None:
        self.bundle, self.variant, self.function = bundle, variant, function

    def lines(self, body: model.FunctionBody) -> Iterator[str]:
        function = self.function
        yield f"function {function.name} for {self.variant.target}"
        for i, type_ in enumerate(function.arguments):
            yield f"  argument {self._parameter('arg', i)}: {spell(type_)}"
        for i, type_ in enumerate(function.results):
            yield f"  result {self._parameter('result', i)}: {spell(type_)}"
        if isinstance(body.transient, model.Register):
            yield f"  transient: {operand_text(body.transient)} bytes"
        elif body.transient_size:
            size, bound = size_text(body.transient_size), size_text(body.transient_lower_bound)
            yield f"  transient: {size}, at least {bound}"
        if body.setup:
            yield "  setup"
            yield from (f"    {self._setup(step)}" for step in body.setup)
        yield "  commands"
        yield from self._commands(body.commands, "    ")

    def _setup(self, step: model.Setup) -> str:
        match step:
            case model.Size():
                name = self._parameter("arg", step.argument)
                return f"{operand_text(step.target)} = size {step.dimension} of {name}"
            case model.Compute():
                formula = _SIGNS[step.operation].format(
                    operand_text(step.lhs), operand_text(step.rhs)
                )
                return f"{operand_text(step.target)} = {formula}"
            case model.Check():
                return f"refuse unless {operand_text(step.condition)}: {step.message}"

    def _commands(self, commands: Sequence[model.Command], indent: str) -> Iterator[str]:
        deeper = indent + "  "
        for command in commands:
            match command:
                case model.Dispatch():
                    yield from self._dispatch(command, indent)
                case model.Fill():
                    yield f"{indent}fill {self._range(command.target)} with {command.pattern.hex()}"
                case model.Copy():
                    source, target = self._range(command.source), self._range(command.target)
                    yield f"{indent}copy {source} to {target}"
                case model.Barrier():
                    yield f"{indent}barrier"
                case model.Load():
                    target, source = operand_text(command.target), self._range(command.source)
                    yield f"{indent}{target} = load {source}"
                case model.Store():
                    value, target = operand_text(command.value), self._range(command.target)
                    yield f"{indent}store {value} to {target}"
                case model.Loop():
                    yield f"{indent}repeat {operand_text(command.count)} times"
                    yield from self._commands(command.body, deeper)
                case model.While():
                    yield f"{indent}while {operand_text(command.proceed)}, which is computed by"
                    yield from self._commands(command.condition, deeper)
                    yield f"{indent}do"
                    yield from self._commands(command.body, deeper)
                case model.If():
                    yield f"{indent}if {operand_text(command.condition)}"
                    yield from self._commands(command.then, deeper)
                    if command.otherwise:
                        yield f"{indent}else"
                        yield from self._commands(command.otherwise, deeper)
                case _:
                    assert_never(command)

    def _dispatch(self, dispatch: model.Dispatch, indent: str) -> Iterator[str]:
        kernel = self.variant.kernels[dispatch.kernel]
        groups = " x ".join(map(operand_text, dispatch.groups))
        threads = " x ".join(map(str, kernel.threadgroup_size))
        yield f"{indent}dispatch {kernel.name}, {groups} groups of {threads} threads"
        for ref, binding in zip(dispatch.bindings, kernel.bindings, strict=True):
            access = binding.access.name.lower().replace("_", " and ")
            yield f"{indent}  {access} {binding.name}: {self._range(ref)}"
        if dispatch.push_constants:
            yield f"{indent}  push constants {dispatch.push_constants.hex()}"

    def _parameter(self, prefix: str, index: int) -> str:
        is_result = prefix == "result"
        names = self.function.result_names if is_result else self.function.argument_names
        return parameter_name(names, index, prefix)

    def _range(self, ref: model.BufferRef) -> str:
        """`x`, where it is all of an argument; else with the bytes: `transient[0:64]`."""
        match ref.kind:
            case model.BufferKind.ARGUMENT:
                name, type_ = self._parameter("arg", ref.index), self.function.arguments[ref.index]
            case model.BufferKind.RESULT:
                name = self._parameter("result", ref.index)
                type_ = self.function.results[ref.index]
            case model.BufferKind.CONSTANT:
                constant = self.bundle.constants[ref.index]
                name, type_ = constant.name or f"constant{ref.index}", constant.type
            case model.BufferKind.TRANSIENT:
                name, type_ = "transient", None
        if not (isinstance(ref.offset, int) and isinstance(ref.length, int)):
            start, length = operand_text(ref.offset), operand_text(ref.length)
            return (
                f"{name}[0:{length}]" if ref.offset == 0 else f"{name}[{start}:{start} + {length}]"
            )
        if (
            type_ is not None
            and type_.is_static
            and (ref.offset, ref.length) == (0, type_.byte_size)
        ):
            return name
        return f"{name}[{ref.offset}:{ref.offset + ref.length}]"
