"""Lines of MSL and the SPIR-V instructions that they say."""

from __future__ import annotations

from unit.pyspirv.assembly import assemble, kernel

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.msl import MslOptions, cross_compile
from ingot.targets.msl.line_table import line_table
from ingot.targets.pyspirv import Library
from ingot.targets.spirv import disassemble

SUM = assemble(kernel("%p = OpFMul %f32 %x %y\n%r = OpFAdd %f32 %p %x"))

PRODUCT = """func.func @product(%x: tensor<64x100xf32>, %w: tensor<100x24xf32>)
    -> tensor<64x24xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x24xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<64x24xf32>) -> tensor<64x24xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x100xf32>, tensor<100x24xf32>)
                     outs(%f : tensor<64x24xf32>) -> tensor<64x24xf32>
  return %m : tensor<64x24xf32>
}
"""


def said(binary: bytes, text: str, library: Library, name: str = "k") -> list[tuple[str, set[str]]]:
    """Each line with the opcodes of what it says."""
    table = line_table(binary, text, kernel_name=name, options=MslOptions(), library=library)
    assert table is not None
    code = disassemble(binary).splitlines()
    opcodes = [line.split("=")[-1].split()[0] for line in code]
    return [
        (line.strip(), {opcodes[i] for i in (s.root, *s.taken_in)} if s is not None else set())
        for line, s in zip(text.splitlines(), table, strict=True)
    ]


def test_a_statement_says_its_root_and_what_it_takes_in(library: Library) -> None:
    text = cross_compile(SUM, kernel_name="k", library=library).text
    found = [opcodes for line, opcodes in said(SUM, text, library) if line.startswith("out[")]
    assert len(found) == 1
    assert {"OpStore", "OpFAdd", "OpFMul", "OpLoad"} <= found[0]


def test_what_is_no_statement_says_nothing(library: Library) -> None:
    text = cross_compile(SUM, kernel_name="k", library=library).text
    table = dict(said(SUM, text, library))
    assert not table["#include <metal_stdlib>"] and not table["using namespace metal;"]


def test_loops_keep_their_form_and_are_linked(library: Library) -> None:
    bundle = compile_module(PRODUCT, "product.mlir", CompileOptions(targets=("metal:apple7",)))
    (compiled,) = bundle.variants[0].kernels
    source = cross_compile(compiled.spirv, kernel_name="product", library=library).text
    lines = said(compiled.spirv, source, library, "product")
    loops = [codes for line, codes in lines if "for (" in line]
    assert loops and all(loops)


def test_another_text_is_not_linked(library: Library) -> None:
    text = cross_compile(SUM, kernel_name="k", library=library).text.replace("+", "-")
    options = MslOptions()
    assert line_table(SUM, text, kernel_name="k", options=options, library=library) is None
