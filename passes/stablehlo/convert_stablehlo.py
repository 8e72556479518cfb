"""Turn StableHLO and CHLO into L1."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.sizes import is_dynamic
from ingot.compiler.dialects.dispatch import SIGNATURE
from ingot.compiler.dialects.stablehlo.operations import CustomCallOp

_DIALECTS = ("stablehlo.", "chlo.", "shape.")


def _is_stablehlo(function: func.FuncOp) -> bool:
    """Whether a function has ops of StableHLO, or types that only it has.

    Complex numbers of linalg and the complex dialect are left to `expand-complex`.
    """
    if "ui" in str(function.function_type):
        return True
    return any(op.name.startswith(_DIALECTS) for op in function.body.walk())


def _computations(module: ModuleOp) -> set[str]:
    """The functions that custom calls name, as what they compare or combine by."""
    return {
        symbol.root_reference.data
        for call in module.walk()
        if isinstance(call, CustomCallOp)
        for symbol in call.computations
    }


def _convert(function: func.FuncOp) -> None:
    """Rebuild the body; the signature stays readable in an attribute where types lose a sign."""
    from ingot.passes.stablehlo.lowering import Lowering, check_type, signless
    from ingot.passes.stablehlo.registry import LOWERINGS, SCALAR_RULES, SIZED

    old = function.body.block
    for argument in old.args:
        what = f"argument {argument.index} of {function.sym_name.data} with"
        check_type(argument, argument.type, what)
    block = Block(arg_types=[signless(argument.type) for argument in old.args])
    low = Lowering(LOWERINGS, SIZED, SCALAR_RULES, Emitter.at_end(block, function.location))
    low.has_sizes = any(map(is_dynamic, old.args))
    for before, after in zip(old.args, block.args, strict=True):
        after.name_hint = before.name_hint
        after.location = before.location
        low.values[before] = after

    def last(op: Operation) -> None:
        low.emit.add(func.ReturnOp(*(low.value(value) for value in op.operands)))

    low.ops(list(old.ops), last)
    for op in reversed(low.spare):
        if not any(result.uses for result in op.results):
            erase(op)
    type_ = function.function_type
    new_type = FunctionType.from_lists(
        [signless(t) for t in type_.inputs], [signless(t) for t in type_.outputs]
    )
    if new_type != type_:
        function.attributes[SIGNATURE] = type_
        function.properties["function_type"] = new_type
    function.body.detach_block(old)
    function.body.add_block(block)
    old.erase(safe_erase=False)


@dataclass(frozen=True)
class ConvertStableHLOPass(ModulePass):
    """Turn StableHLO and CHLO into linalg, tensor, arith and scf ops (to L1).

    Integers become signless; the signature of the source is kept in `ingot.signature`, for the
    bundle. Complex numbers stay: `expand-complex` computes with their parts.

        %r = stablehlo.add %a, %b : tensor<4xf32>
    becomes
        %r = linalg.generic {...} ins(%a, %b) outs(%empty) { yield arith.addf }
    """

    name = "convert-stablehlo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the functions that have such ops; raises `Refusal`."""
        computations = _computations(op)
        for function in host_functions(op):
            if function.sym_name.data not in computations and _is_stablehlo(function):
                _convert(function)
        for function in host_functions(op):
            if function.sym_name.data in computations:
                erase(function)
