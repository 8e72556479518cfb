"""PyTorch's side of a compiled function: export to linalg, and pytrees in and out.

`torch.export` traces the module, torch-mlir lowers the traced graph to linalg on tensors. What the
graph takes and gives besides tensors (numbers, None) is fixed by the trace: it is taken out of the
graph, compared when the function is called, and put back into what it returns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingot.compiler.driver.diagnostics import CompileError
from ingot.integrations.framework import framework
from ingot.runtime.dtypes import Array
from ingot.runtime.errors import ArgumentError

_OPERATOR = re.compile(r"torch\.(aten|prims|quantized|torchvision|_c10d_functional)[.\w]*")


@dataclass(frozen=True)
class Fixed:
    """A leaf that is no tensor: its value when the module was traced."""

    value: object


@dataclass(frozen=True)
class TorchBoundary:
    """Boundary of an exported module.

    `inputs` and `outputs` have an entry for each leaf, None for a tensor; the specs are those of
    `torch.export`'s `CallSpec`.
    """

    lowered: Any
    """The `torch_mlir.ir.Module`."""
    in_spec: Any
    out_spec: Any
    inputs: tuple[Fixed | None, ...]
    outputs: tuple[Fixed | None, ...]

    def text(self) -> str:
        """The linalg module."""
        return str(self.lowered)

    def arrays(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Array]:
        """The tensors among the leaves; raises `ArgumentError` where another leaf has changed."""
        torch = framework("torch", "torch")
        ordered = _in_order(dict(kwargs), self.in_spec)
        leaves, spec = torch.utils._pytree.tree_flatten((tuple(args), ordered))
        if spec != self.in_spec:
            raise ArgumentError(
                f"the arguments have the structure {spec}, and the module was compiled for "
                f"{self.in_spec}"
            )
        for position, (leaf, fixed) in enumerate(zip(leaves, self.inputs, strict=True)):
            if fixed is not None and leaf != fixed.value:
                raise ArgumentError(
                    f"argument {position} is {leaf!r}, and the module was compiled for "
                    f"{fixed.value!r}: only tensors may change"
                )
        tensors = (leaf for leaf, fixed in zip(leaves, self.inputs, strict=True) if fixed is None)
        return [_to_numpy(torch, tensor) for tensor in tensors]

    def values(self, results: Sequence[Array]) -> Any:
        """What the module returns, with tensors on the CPU."""
        torch = framework("torch", "torch")
        arrays = iter(results)
        leaves = [
            _to_tensor(torch, next(arrays)) if fixed is None else fixed.value
            for fixed in self.outputs
        ]
        return torch.utils._pytree.tree_unflatten(leaves, self.out_spec)


def export(
    module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> TorchBoundary:
    """Trace `module` and lower it; raises `CompileError`, and what PyTorch raises."""
    torch = framework("torch", "torch")
    decompositions = framework("torch_mlir.extras.fx_decomp_util", "torch")
    program = module
    if not isinstance(module, torch.export.ExportedProgram):
        program = torch.export.export(
            module, tuple(args), dict(kwargs), dynamic_shapes=dynamic_shapes
        )
    program = program.run_decompositions(decompositions.get_decomposition_table())
    _refuse_mutation(program.graph_signature)
    inputs, outputs = _take_out_constants(program)
    spec = program.call_spec
    return TorchBoundary(_lower(program), spec.in_spec, spec.out_spec, inputs, outputs)


def _refuse_mutation(signature: Any) -> None:
    """A bundle's function has results only: nothing that it is given or holds changes."""
    for kind, changed in (
        ("buffer", signature.buffers_to_mutate),
        ("argument", signature.user_inputs_to_mutate),
    ):
        for name in changed.values():
            raise CompileError(
                f"the module changes its {kind} `{name}`, and a bundle cannot",
                "return the new value instead; `module.eval()` keeps statistics as they are",
            )


def _take_out_constants(
    program: Any,
) -> tuple[tuple[Fixed | None, ...], tuple[Fixed | None, ...]]:
    """Remove what is no tensor from the graph's signature; returns the leaves in and out."""
    constant = framework("torch.export.graph_signature", "torch").ConstantArgument
    signature, graph = program.graph_signature, program.graph_module.graph
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    inputs: list[Fixed | None] = []
    for spec in list(signature.input_specs):
        if spec.kind.name != "USER_INPUT":
            continue
        inputs.append(Fixed(spec.arg.value) if isinstance(spec.arg, constant) else None)
        if inputs[-1] is not None:
            graph.erase_node(placeholders[spec.arg.name])
            signature.input_specs.remove(spec)
    returned = graph.output_node()
    outputs: list[Fixed | None] = []
    kept: list[Any] = []
    for spec, value in zip(list(signature.output_specs), returned.args[0], strict=True):
        outputs.append(Fixed(spec.arg.value) if isinstance(spec.arg, constant) else None)
        if outputs[-1] is None:
            kept.append(value)
        else:
            signature.output_specs.remove(spec)
    returned.args = (tuple(kept),)
    return tuple(inputs), tuple(outputs)


def _lower(program: Any) -> Any:
    """The program as linalg on tensors; raises `CompileError` for what torch-mlir cannot lower."""
    fx = framework("torch_mlir.fx", "torch")
    importer = framework("torch_mlir.extras.fx_importer", "torch").FxImporter
    context = framework("torch_mlir.ir", "torch").Context()
    framework("torch_mlir.dialects.torch", "torch").register_dialect(context)
    messages: list[str] = []

    def keep(diagnostic: Any) -> bool:
        messages.append(str(diagnostic.message))
        return True

    context.attach_diagnostic_handler(keep)
    error = framework("torch_mlir.compiler_utils", "torch").TorchMlirCompilerError
    try:
        return fx.export_and_import(
            program,
            output_type="linalg-on-tensors",
            decomposition_table={},
            fx_importer=importer(context=context),
        )
    except (error, NotImplementedError) as failure:
        raise CompileError(_why(messages or [str(failure)])) from failure


def _why(messages: Sequence[str]) -> str:
    operators = (_OPERATOR.search(message) for message in messages)
    named = next((found[0].removeprefix("torch.") for found in operators if found), None)
    if named is not None:
        return f"torch-mlir cannot lower the operator `{named}`"
    return f"torch-mlir cannot lower the module: {messages[0].strip().splitlines()[0]}"


def _in_order(kwargs: dict[str, Any], in_spec: Any) -> dict[str, Any]:
    """Keyword arguments in the order of the trace, which is part of the structure."""
    known = in_spec.child(1).context if hasattr(in_spec, "child") else in_spec.children()[1].context
    return {name: kwargs[name] for name in known if name in kwargs} | kwargs


def _to_numpy(torch: Any, value: Any) -> Array:
    """A tensor as an array without a copy where it is contiguous; NumPy's bf16 is ml_dtypes'."""
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    tensor = value.detach().cpu()
    if tensor.dtype is torch.bfloat16:
        import ml_dtypes

        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _to_tensor(torch: Any, array: Array) -> Any:
    """An array of the runtime, which nobody else holds, as a tensor."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
