"""Every stage of every kernel, and the lines of the source that its lines come from."""

from __future__ import annotations

import pytest

from ingot.compiler.driver.history import History, compile_with_history
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.spirv import disassemble

PROGRAM = """func.func @main(%x: tensor<64x100xf32>, %w: tensor<100x24xf32>) -> tensor<64x24xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x24xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<64x24xf32>) -> tensor<64x24xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x100xf32>, tensor<100x24xf32>)
                     outs(%f : tensor<64x24xf32>) -> tensor<64x24xf32>
  %r = linalg.tanh ins(%m : tensor<64x24xf32>) outs(%e : tensor<64x24xf32>) -> tensor<64x24xf32>
  return %r : tensor<64x24xf32>
}
"""
MATMUL, TANH = 5, 7

LAYERS = """func.func @main(%x: !t, %w: !t, %v: !t) -> !t {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : !t %f = linalg.fill ins(%c : f32) outs(%e : !t) -> !t
  %m = linalg.matmul ins(%x, %w : !t, !t) outs(%f : !t) -> !t
  %r = linalg.tanh ins(%m : !t) outs(%e : !t) -> !t
  %n = linalg.matmul ins(%r, %v : !t, !t) outs(%f : !t) -> !t
  %s = linalg.tanh ins(%n : !t) outs(%e : !t) -> !t
  return %s : !t
}
""".replace("!t", "tensor<512x512xf32>")


def history(text: str, target: str = "metal:apple7") -> History:
    return compile_with_history(text, "main.mlir", CompileOptions(targets=(target,)))


@pytest.mark.parametrize("target", ["metal:apple7", "vulkan:generic", "vulkan:hopper"])
def test_places_reach_every_stage(target: str) -> None:
    (kernel,) = history(PROGRAM, target).targets[target].values()
    assert list(kernel.stages) == ["dispatch", "tiles", "buffers", "spirv"]
    assert kernel.types == ("64x100xf32", "100x24xf32", "64x24xf32")
    for name, listing in kernel.stages.items():
        assert {(MATMUL,), (TANH,)} <= set(listing.sources), name


def test_every_line_of_buffers_has_a_place() -> None:
    (kernel,) = history(PROGRAM).targets["metal:apple7"].values()
    listing = kernel.stages["buffers"]
    bare = [
        line.strip()
        for line, sources in zip(listing.lines, listing.sources, strict=True)
        if not sources and not line.strip().startswith("}")
    ]
    assert not bare


def test_an_instruction_is_for_the_line_that_it_was_written_from() -> None:
    found = history(PROGRAM)
    (kernel,) = found.targets["metal:apple7"].values()
    (compiled,) = found.bundle.variants[0].kernels
    code = disassemble(compiled.spirv).splitlines()
    assert len(code) == len(kernel.instructions)
    lines = kernel.stages["spirv"].lines
    for instruction, line in zip(code, kernel.instructions, strict=True):
        if "OpFMul" in instruction:
            assert line is not None and "spirv.FMul" in lines[line]


def test_a_kernel_for_two_layers_comes_from_both() -> None:
    kernels = history(LAYERS).targets["metal:apple7"]
    (kernel,) = kernels.values()
    assert any({4, 6} <= set(sources) for sources in kernel.stages["spirv"].sources)
    assert any({5, 7} <= set(sources) for sources in kernel.stages["spirv"].sources)


def test_a_program_that_says_where_it_comes_from_is_shown_as_it_is_written() -> None:
    text = PROGRAM.replace(
        "outs(%f : tensor<64x24xf32>) -> tensor<64x24xf32>",
        'outs(%f : tensor<64x24xf32>) -> tensor<64x24xf32> loc("model.py":7:3)',
    )
    found = history(text)
    (kernel,) = found.targets["metal:apple7"].values()
    lines = {line for sources in kernel.stages["spirv"].sources for line in sources}
    assert MATMUL in lines
