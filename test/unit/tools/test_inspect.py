"""`ingot inspect`: its forms, and what it says when it is asked for what is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.harness import ROOT

from ingot.tools.main import command as main

PROGRAM = """func.func @main(%x: tensor<4xf32>, %n: tensor<i1>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %b = math.exp %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %t = tensor.extract %n[] : tensor<i1>
  %s = scf.if %t -> (tensor<4xf32>) {
    %y = math.sin %r : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %r : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}
"""
OPEN = """func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = math.exp %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
"""


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["inspect", *arguments], prog_name="ingot")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A program with control flow for two targets, and one with open sizes."""
    folder = tmp_path_factory.mktemp("bundles")
    made: dict[str, str] = {}
    for name, text in (("flow", PROGRAM), ("open", OPEN)):
        (folder / f"{name}.mlir").write_text(text)
        made[name] = str(folder / f"{name}.ingot")
        arguments = ["compile", str(folder / f"{name}.mlir"), "-o", made[name], "--no-cache"]
        arguments += ["--target", "metal:apple7", "--target", "vulkan:generic"]
        assert CliRunner().invoke(main, arguments).exit_code == 0
    return made


def test_the_plan_is_readable(bundles: dict[str, str]) -> None:
    lines = invoke(bundles["flow"], "--plan").output.splitlines()
    assert lines[:3] == [
        "function main for metal:apple7",
        "  argument x: 4xf32",
        "  argument n: i1",
    ]
    text = "\n".join(lines)
    for part in ("repeat 9 times", "if %0", "else", "%0 = load n", "  read ", "barrier"):
        assert part in text
    assert "transient[" in text and "write out: " in text


def test_the_plan_of_open_sizes_has_its_setup(bundles: dict[str, str]) -> None:
    text = invoke(bundles["open"], "--plan", "--target", "vulkan:generic").output
    assert "function main for vulkan:generic" in text
    assert (
        "%0 = size 0 of x" in text and "refuse unless" in text and "write out: result0[0:%" in text
    )


def test_a_program_is_compiled_for_its_target(tmp_path: Path) -> None:
    path = tmp_path / "open.mlir"
    path.write_text(OPEN)
    shown = invoke(str(path), "--target", "metal:apple7", "--plan")
    assert shown.output.startswith("function main for metal:apple7")
    missing = invoke(str(path))
    assert missing.exit_code == 2
    assert missing.stderr.strip() == (
        f"{path}: error: not an ingot bundle; to compile a program and inspect that, say for which"
        " target, for example --target metal:apple7"
    )


def test_a_wrong_program_is_told_as_compile_tells_it(tmp_path: Path) -> None:
    path = tmp_path / "wrong.mlir"
    path.write_text("func.func @f() { %0 = arith.nothing : f32 }")
    result = invoke(str(path), "--target", "metal:apple7")
    assert result.exit_code == 1
    assert "wrong.mlir:1:" in result.stderr and "arith.nothing" in result.stderr


@pytest.mark.parametrize("form", ["--msl", "--spirv"])
def test_a_wrong_kernel_gets_the_names_that_there_are(bundles: dict[str, str], form: str) -> None:
    result = invoke(bundles["open"], form, "main_exo")
    assert result.exit_code == 2
    first, second = result.stderr.splitlines()
    assert first.endswith("no kernel named main_exo; did you mean main_exp?")
    assert second == "metal:apple7 has main_exp"


def test_a_target_without_msl_says_so(bundles: dict[str, str]) -> None:
    result = invoke(bundles["open"], "--msl", "main_exp", "--target", "vulkan:generic")
    assert result.exit_code == 2
    assert result.stderr.strip().endswith("vulkan:generic has no MSL; --spirv shows its kernels")


def test_two_forms_at_once_are_refused(bundles: dict[str, str]) -> None:
    result = invoke(bundles["open"], "--plan", "--json")
    assert result.exit_code == 2
    assert result.stderr.strip() == "error: --json and --plan are several forms; choose one"


def test_a_page_that_cannot_be_written_is_one_line(bundles: dict[str, str], tmp_path: Path) -> None:
    result = invoke(bundles["open"], "--html", str(tmp_path / "no" / "page.html"))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and "cannot write" in result.stderr


def test_the_page_needs_nothing_else(bundles: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert invoke(bundles["flow"], "--html", str(page)).exit_code == 0
    text = page.read_text("utf-8")
    assert "http://" not in text and "https://" not in text
    assert "default-src 'none'" in text
    assert str(tmp_path) not in text


def test_a_name_cannot_leave_its_place_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "<b>.mlir"
    path.write_text(OPEN.replace("@main", '@"<script>alert(1)</script>"') + "// </script><b>\n")
    page = tmp_path / "page.html"
    result = invoke(str(path), "--target", "metal:apple7", "--html", str(page))
    assert result.exit_code == 0, result.stderr
    text = page.read_text("utf-8")
    assert "<script>alert" not in text and "</script><b>" not in text
    assert "&lt;b&gt;.mlir" in text


def test_a_bundle_and_its_program_give_the_whole_page(
    bundles: dict[str, str], tmp_path: Path
) -> None:
    program = bundles["open"].replace(".ingot", ".mlir")
    page = tmp_path / "page.html"
    form = ["--html", str(page), "--target", "vulkan:generic"]
    assert invoke(bundles["open"], *form, "--source", program).exit_code == 0
    assert '"id":"buffers"' in page.read_text("utf-8")
    other = bundles["flow"].replace(".ingot", ".mlir")
    wrong = invoke(bundles["open"], *form, "--source", other)
    assert wrong.exit_code == 2
    assert (
        wrong.stderr.strip() == f"{other}: error: {bundles['open']} was not made from this program"
    )


def test_a_program_that_became_another_bundle_is_refused(tmp_path: Path) -> None:
    path, bundle = tmp_path / "f.mlir", tmp_path / "f.ingot"
    path.write_text(OPEN.replace("?x4", "4x4"))
    made = CliRunner().invoke(
        main, ["grad", str(path), "-o", str(bundle), "--target", "metal:apple7"]
    )
    assert made.exit_code == 0
    result = invoke(str(bundle), "--html", str(tmp_path / "p.html"), "--source", str(path))
    assert result.exit_code == 2
    assert "compiles to other kernels than" in result.stderr


def test_a_source_is_for_the_page(bundles: dict[str, str]) -> None:
    result = invoke(bundles["open"], "--source", "x.mlir")
    assert result.exit_code == 2
    assert result.stderr.strip() == "error: --source is for the page: write --html FILE"


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "metallib_bytes":  # its keys are platforms
                yield from keys(inner)
            yield key
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def test_every_key_of_the_json_is_described(bundles: dict[str, str]) -> None:
    page = (ROOT / "docs" / "inspect.md").read_text("utf-8")
    for form in ([], ["--cost"]):
        for name in bundles.values():
            found = set(keys(json.loads(invoke(name, "--json", *form).output)))
            missing = {key for key in found if f"`{key}`" not in page}
            assert not missing


def test_a_program_is_shown_as_its_bundle(tmp_path: Path) -> None:
    program, bundle = tmp_path / "p.mlir", tmp_path / "p.ingot"
    program.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        '  %y = math.exp %x : tensor<4xf32> loc("model.py":7:3)\n'
        "  return %y : tensor<4xf32>\n}\n"
    )
    words = ["compile", str(program), "-o", str(bundle), "--target", "metal:apple7"]
    assert CliRunner().invoke(main, words, prog_name="ingot").exit_code == 0
    shown = invoke(str(program), "--target", "metal:apple7", "--json")
    assert shown.exit_code == 0
    assert "model.py:7:3" in shown.stdout
    assert json.loads(shown.stdout) == json.loads(invoke(str(bundle), "--json").stdout)
