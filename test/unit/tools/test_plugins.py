"""Passes and dialects of other packages and files: found, used, and blamed when they break."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ingot.compiler import plugins
from ingot.tools.doctor import command as doctor
from ingot.tools.opt import command

PROGRAM = "func.func @f(%x: f32) -> f32 {\n  return %x : f32\n}\n"
RENAME = """
from dataclasses import dataclass
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

@dataclass(frozen=True)
class Rename(ModulePass):
    name = "{}"
    to: str = "g"

    def apply(self, ctx, op: ModuleOp) -> None:
        for function in op.ops:
            function.properties["sym_name"] = StringAttr(self.to)
"""
DIALECT = """
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def

@irdl_op_definition
class Watch(IRDLOperation):
    name = "{0}.watch"
    value = operand_def()
    assembly_format = "$value attr-dict `:` type($value)"

Toy = Dialect("{0}", [Watch])
"""
LOSSY = """
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition

@irdl_op_definition
class Watch(IRDLOperation):
    name = "toy6.watch"

    @classmethod
    def parse(cls, parser):
        return cls()

    def print(self, printer):
        {}

Toy = Dialect("toy6", [Watch])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on Python's path, where packages can be put."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "f.mlir").write_text(PROGRAM)
    plugins.forget()
    yield tmp_path
    plugins.forget()


def package(folder: Path, name: str, group: str, entry: str, code: str | None) -> None:
    """Put a package as pip does; its module, when there is code, is `name_code`."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    if code is not None:
        (folder / f"{name}_code.py").write_text(code)


def opt(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(command, [str(folder / "f.mlir"), *words], prog_name="ingot-opt")


@pytest.mark.parametrize(
    "words",
    [
        ("-p", "rename-1{to=h},cse"),
        ("--pass-pipeline=builtin.module(func.func(rename-1{to=h}))",),
        ("--cse", "--rename-1=to=h"),
        ("-rename-1=to=h",),
    ],
    ids=" ".join,
)
def test_a_pass_of_a_package_is_like_others(folder: Path, words: tuple[str, ...]) -> None:
    package(
        folder, "good1", plugins.PASSES, "rename-1=good1_code:Rename", RENAME.format("rename-1")
    )
    done = opt(folder, *words)
    assert done.exit_code == 0, done.stderr
    assert "@h(" in done.stdout


def test_lists_name_the_package_and_load_nothing(folder: Path) -> None:
    package(folder, "good2", plugins.PASSES, "rename-2=good2_code:Rename", "raise SystemExit")
    assert "\ngood2      rename-2\n" in opt(folder, "--list-passes").stdout
    assert "Passes of plugins:\n  rename-2  good2\n" in opt(folder, "--help").stdout
    assert "did you mean `rename-2`?" in opt(folder, "-p", "rename-2x").stderr


@pytest.mark.parametrize(
    ("entry", "code", "sentence"),
    [
        ("x-1=nothing:X", None, "cannot be loaded: ModuleNotFoundError: No module named 'nothing'"),
        ("x-2=bad_code:X", "", "cannot be loaded: AttributeError: module 'bad_code' has no"),
        ("x-3=bad_code:X", "1 / 0", "cannot be loaded: ZeroDivisionError: division by zero"),
        ("x-4=bad_code:X", "X = 3", "is not a ModulePass of this name"),
        ("x-5=bad_code:Rename", RENAME.format("y"), "is not a ModulePass of this name"),
    ],
)
def test_a_broken_package_is_named(
    folder: Path, entry: str, code: str | None, sentence: str
) -> None:
    sys.modules.pop("bad_code", None)
    package(folder, "bad", plugins.PASSES, entry, code)
    done = opt(folder, "-p", entry[:3])
    assert done.exit_code == 1
    assert f"error: `{entry[:3]}` of the package bad (`{entry[4:]}`) {sentence}" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_doctor_loads_every_plugin(folder: Path) -> None:
    package(folder, "good6", plugins.PASSES, "r-6=good6_code:Rename", RENAME.format("r-6"))
    package(folder, "good7", plugins.DIALECTS, "toy7=good7_code:Toy", DIALECT.format("toy7"))
    package(folder, "bad8", plugins.PASSES, "r-8=nothing:X", None)
    done = CliRunner().invoke(doctor, [])
    assert done.exit_code == 0, "Ingot works without its plugins"
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert "ok plugin r-6 good6" in lines
    assert "ok plugin toy7 good7" in lines
    assert any(line.startswith("MISSING plugin r-8 `r-8` of the package bad8") for line in lines)


def test_passes_and_dialects_of_a_file(folder: Path) -> None:
    file = folder / "mine.py"
    file.write_text(RENAME.format("rename-3") + DIALECT.format("toy3"))
    (folder / "f.mlir").write_text("func.func @f(%x: f32) {\n  toy3.watch %x : f32\n  return\n}\n")
    assert "unknown dialect 'toy3'" in opt(folder).stderr
    for words in (["--load-pass-plugin", str(file)], [f"-load-dialect-plugin={file}"]):
        done = opt(folder, *words, "--rename-3")
        assert done.exit_code == 0, done.stderr
        assert "func.func @g(%x: f32) {\n    toy3.watch %x : f32" in done.stdout


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("printer.print_string(' lost')", "the custom form cannot be read again: "),
        ("pass", 'the custom form is another one when it is read again: `"toy6.watch"() {seen}'),
    ],
)
def test_a_form_that_loses_something_is_refused(folder: Path, line: str, sentence: str) -> None:
    file = folder / "lossy.py"
    file.write_text(LOSSY.format(line))
    (folder / "f.mlir").write_text('"toy6.watch"() {seen} : () -> ()\n')
    done = opt(folder, "--load-pass-plugin", str(file), "--verify-roundtrip")
    assert done.exit_code == 1
    assert sentence in done.stderr


def test_a_dialect_of_a_package(folder: Path) -> None:
    package(folder, "tongue", plugins.DIALECTS, "toy4=tongue_code:Toy", DIALECT.format("toy4"))
    package(folder, "mumble", plugins.DIALECTS, "toy5=tongue_code:Toy", None)
    (folder / "f.mlir").write_text(
        'func.func @f(%x: f32) {\n  "toy4.watch"(%x) : (f32) -> ()\n  return\n}\n'
    )
    assert "    toy4.watch %x : f32\n" in opt(folder).stdout
    (folder / "f.mlir").write_text('"toy5.watch"() : () -> ()\n')
    assert "`toy5` of the package mumble (`tongue_code:Toy`) is not a Dialect" in opt(folder).stderr


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (None, "none.py is not a Python file"),
        ("x = 1\n", "defines no ModulePass and no Dialect"),
        ("def\n", "cannot be loaded: SyntaxError: "),
    ],
)
def test_a_broken_file_is_named(folder: Path, code: str | None, sentence: str) -> None:
    file = folder / ("none.py" if code is None else "some.py")
    if code is not None:
        file.write_text(code)
    done = opt(folder, f"--load-pass-plugin={file}")
    assert done.exit_code == 2
    assert f"error: the plugin {file}" in done.stderr
    assert sentence in done.stderr


def test_packages_are_not_looked_through_for_known_names(folder: Path) -> None:
    program = (
        "import sys\n"
        "from ingot.compiler import plugins\n"
        "from ingot.tools.opt import main\n"
        f"sys.argv[1:] = [{str(folder / 'f.mlir')!r}, '-p', 'cse,canonicalize', '--mlir-timing']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert plugins.offers.cache_info().misses == 0\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
