"""What is written for C compiles, and names what it should."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.harness import ROOT

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.bundle.c_code import c_array, c_header, c_identifier
from ingot.targets.bundle.writer import write_bundle

PROGRAM = """
func.func @"a.b"(%int: tensor<2x3xf16>, %x: tensor<i64>) -> tensor<2x3xf16> {
  return %int : tensor<2x3xf16>
}
func.func @a_b(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.exp %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @nothing(%x: tensor<4xi1>) -> tensor<4xi1> {
  return %x : tensor<4xi1>
}
"""


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("main", "main"), ("a.b", "a_b"), ("3d", "_3d"), ("int", "int_"), ("Δ", "_"), ("", "_")],
)
def test_names_become_identifiers(name: str, identifier: str) -> None:
    assert c_identifier(name) == identifier


def test_header_and_array_compile_without_a_warning(tmp_path: Path) -> None:
    bundle = compile_module(PROGRAM, "test.mlir", CompileOptions(targets=("vulkan:generic",)))
    data = write_bundle(bundle)
    header = c_header(bundle, "my program")
    assert "enum { my_program_function_a_b, my_program_function_a_b_2, " in header
    assert "my_program_a_b(struct ingot_program *program, const uint16_t *int_," in header
    assert "/* a_b(?xf32) -> (?xf32) */\n/* Sizes are known when it is called" in header
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "header.h").write_text(header)
    (tmp_path / "array.c").write_text(c_array(data, "my program"))
    (tmp_path / "main.c").write_text(
        '#include "header.h"\n#include <stdio.h>\n'
        "int main(void) {\n"
        "    fwrite(my_program_bundle, 1, my_program_bundle_size, stdout);\n"
        "    return 0;\n}\n"
    )
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror"]
    include = f"-I{ROOT / 'runtime' / 'embed' / 'include'}"
    sources = [str(path) for path in (ROOT / "runtime" / "embed").glob("*.c")]
    subprocess.run(
        [compiler, *flags, include, "main.c", "array.c", *sources, "-o", "out"],
        cwd=tmp_path,
        check=True,
    )
    assert subprocess.run([tmp_path / "out"], capture_output=True).stdout == data
