"""`ingot compile` in builds: many files, depfiles, response files, messages as data, the cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ingot.targets.bundle.reader import read_bundle
from ingot.tools.main import command

GOOD = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = math.{} %x : tensor<4xf32>
  return %y : tensor<4xf32>
}}
"""
WRONG = (
    "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = math.expo %x : tensor<4xf32>\n}\n"
)
TARGET = ["--target", "vulkan:generic"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INGOT_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("exp", "sin", "cos"):
        Path(f"{name}.mlir").write_text(GOOD.format(name))
    Path("wrong.mlir").write_text(WRONG)
    return tmp_path


def ingot(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), prog_name="ingot")


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "cache").rglob("*.entry"))


def test_many_files_in_processes(folder: Path) -> None:
    done = ingot("compile", "exp.mlir", "sin.mlir", "cos.mlir", "--out-dir", "out", "-j2", *TARGET)
    assert done.exit_code == 0, done.output
    assert done.stderr == "compiled 3 of 3 files\n"
    assert sorted(p.name for p in (folder / "out").iterdir()) == [
        "cos.ingot",
        "exp.ingot",
        "sin.ingot",
    ]
    alone = ingot("compile", "sin.mlir", "-o", "sin.ingot", "--no-cache", *TARGET)
    assert alone.exit_code == 0
    assert (folder / "out" / "sin.ingot").read_bytes() == Path("sin.ingot").read_bytes()


def test_what_is_said_has_the_order_of_the_files(folder: Path) -> None:
    """Although the longest program is begun first."""
    Path("long.mlir").write_text("// a line\n" * 99 + WRONG)
    words = ["compile", "wrong.mlir", "exp.mlir", "long.mlir", "none.mlir", "-k", "-j2"]
    done = ingot(*words, "--out-dir", "out", *TARGET)
    said = [line.partition(":")[0] for line in done.stderr.splitlines() if "error: " in line]
    assert said == ["wrong.mlir", "long.mlir", "none.mlir"]


def test_an_error_stops_or_not(folder: Path) -> None:
    words = ["compile", "wrong.mlir", "exp.mlir", "--out-dir", "out", *TARGET]
    stopped = ingot(*words)
    assert stopped.exit_code == 1
    assert "wrong.mlir:2:8: error: " in stopped.stderr
    assert stopped.stderr.endswith(
        "compiled 0 of 2 files, 1 failed, 1 not tried (--keep-going tries them)\n"
    )
    went_on = ingot(*words, "--keep-going")
    assert went_on.exit_code == 1
    assert went_on.stderr.endswith("compiled 1 of 2 files, 1 failed\n")
    assert (folder / "out" / "exp.ingot").exists()


def test_outputs_must_go_together(folder: Path) -> None:
    for words, sentence in (
        (["exp.mlir", "sin.mlir"], "no output given"),
        (["exp.mlir", "sin.mlir", "-o", "-"], "2 files need -o FILE for one output, or --out-dir"),
        (["exp.mlir", "-o", "a", "--out-dir", "b"], "-o and --out-dir are two places"),
        (["exp.mlir", "x/exp.mlir", "--out-dir", "b"], "would have the same output"),
        (["exp.mlir", "-o", "-", "-MF", "d"], "-MF needs an output"),
        (["exp.mlir", "--out-dir", "exp.mlir"], "exp.mlir: error: File exists"),
    ):
        done = ingot("compile", *words, *TARGET)
        assert done.exit_code == 2
        assert sentence in done.stderr


def test_a_missing_file_fails_like_the_others(folder: Path) -> None:
    done = ingot("compile", "none.mlir", "exp.mlir", "--out-dir", "out", "-k", *TARGET)
    assert done.exit_code == 1
    assert done.stderr == "none.mlir: error: no such file\ncompiled 1 of 2 files, 1 failed\n"


def test_depfiles_are_what_make_reads(folder: Path) -> None:
    name = "a b#c$d.mlir"
    Path(name).write_text(GOOD.format("exp"))
    done = ingot("compile", name, "-o", "out.ingot", "-MD", *TARGET)
    assert done.exit_code == 0, done.output
    rule = Path("out.ingot.d").read_text()
    assert rule == "out.ingot: a\\ b\\#c$$d.mlir\na\\ b\\#c$$d.mlir:\n"
    make = shutil.which("make")
    if make is None:
        return
    Path("Makefile").write_text("out.ingot:\n\ttouch $@\ninclude out.ingot.d\n")
    run = [make, "-s", "-q", "out.ingot"]
    assert subprocess.run(run).returncode == 0
    later = Path("out.ingot").stat().st_mtime + 10
    os.utime(name, (later, later))
    assert subprocess.run(run).returncode == 1


def test_response_files_hold_words(folder: Path) -> None:
    Path("words.rsp").write_text("exp.mlir 'sin.mlir'  # two files\n--out-dir out\n")
    done = ingot("compile", "@words.rsp", *TARGET)
    assert done.exit_code == 0, done.output
    assert (folder / "out" / "sin.ingot").exists()
    assert ingot("compile", "@none.rsp", *TARGET).exit_code == 2


def test_messages_as_data(folder: Path) -> None:
    words = ["compile", "wrong.mlir", "-o", "a.ingot", *TARGET]
    (entry,) = json.loads(ingot(*words, "--diagnostics", "json").stderr)
    assert entry["severity"] == "error"
    assert (entry["file"], entry["line"], entry["column"]) == ("wrong.mlir", 2, 8)
    log = json.loads(ingot(*words, "--diagnostics", "sarif").stderr)
    assert log["version"] == "2.1.0"
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "wrong.mlir"
    assert place["region"] == {"startLine": 2, "startColumn": 8}
    assert (
        ingot("compile", "exp.mlir", "-o", "a", "--diagnostics", "json", *TARGET).stderr == "[]\n"
    )


def test_the_cache_gives_the_same_bytes(folder: Path) -> None:
    words = ["compile", "exp.mlir", "sin.mlir", "--out-dir", "out", *TARGET]
    assert ingot(*words).exit_code == 0
    first = Path("out/exp.ingot").read_bytes()
    assert len(entries(folder)) == 2
    again = ingot(*words)
    assert again.stderr == "compiled 2 of 2 files, 2 of them before\n"
    assert Path("out/exp.ingot").read_bytes() == first
    assert ingot(*words, "--math", "strict").stderr == "compiled 2 of 2 files\n"
    Path("exp.mlir").write_text(GOOD.format("tanh"))
    assert ingot(*words).stderr == "compiled 2 of 2 files, 1 of them before\n"
    assert ingot(*words, "--no-cache").stderr == "compiled 2 of 2 files\n"


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_damaged_entries_are_made_again(folder: Path, damage: str) -> None:
    words = ["compile", "exp.mlir", "-o", "a.ingot", *TARGET]
    assert ingot(*words).exit_code == 0
    right = Path("a.ingot").read_bytes()
    (entry,) = entries(folder)
    content = bytearray(entry.read_bytes())
    content[-9] ^= 1
    entry.write_bytes({"cut": content[:-20], "flip": content, "empty": b""}[damage])
    assert ingot(*words).exit_code == 0
    assert Path("a.ingot").read_bytes() == right
    assert len(entries(folder)) == 1


def test_the_cache_is_bounded_and_can_be_cleared(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["compile", "exp.mlir", "sin.mlir", "cos.mlir", "--out-dir", "out", *TARGET]
    assert ingot(*words).exit_code == 0
    assert "entries  3" in ingot("cache").output
    size = entries(folder)[0].stat().st_size
    monkeypatch.setenv("INGOT_CACHE_SIZE", str(2 * size))
    assert ingot("compile", "exp.mlir", "-o", "x", "--math", "strict", *TARGET).exit_code == 0
    assert len(entries(folder)) < 3
    assert "removed" in ingot("cache", "--clear").output
    assert entries(folder) == []


def test_a_folder_that_cannot_be_written_does_no_harm(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("")
    monkeypatch.setenv("INGOT_CACHE_DIR", str(folder / "file"))
    assert ingot("compile", "exp.mlir", "-o", "a.ingot", *TARGET).exit_code == 0


def test_files_become_one_bundle(folder: Path) -> None:
    Path("other.mlir").write_text(GOOD.format("cos").replace("@f", "@g"))
    words = ["compile", "exp.mlir", "other.mlir", "-o", "both.ingot", "-MD", *TARGET]
    assert ingot(*words, "--embed", "both.c").exit_code == 0
    bundle = read_bundle(Path("both.ingot").read_bytes(), "both.ingot")
    assert [function.name for function in bundle.functions] == ["f", "g"]
    assert Path("both.ingot.d").read_text().startswith("both.ingot: exp.mlir other.mlir\n")
    assert "both_bundle[]" in Path("both.c").read_text()
    # Each of the files counts for the cache.
    assert len(entries(folder)) == 1
    Path("other.mlir").write_text(GOOD.format("sin").replace("@f", "@h"))
    assert ingot(*words).exit_code == 0
    bundle = read_bundle(Path("both.ingot").read_bytes(), "both.ingot")
    assert [function.name for function in bundle.functions] == ["f", "h"]


@pytest.mark.parametrize("words", [(), ("--name", "a.b")])
def test_a_header_declares_what_an_array_defines(folder: Path, words: tuple[str, ...]) -> None:
    Path("model.v2.mlir").write_text(GOOD.format("cos"))
    made = ["compile", "model.v2.mlir", *TARGET, *words]
    assert ingot(*made, "-o", "model.ingot", "--embed", "model.c").exit_code == 0
    assert ingot(*made, "--emit", "c-header", "-o", "model.h").exit_code == 0
    name = "a_b" if words else "model_v2"
    assert f" {name}_bundle[" in Path("model.c").read_text()
    assert f" {name}_bundle[];" in Path("model.h").read_text()


def test_two_functions_of_one_name_are_refused_where_the_second_stands(folder: Path) -> None:
    done = ingot("compile", "exp.mlir", "sin.mlir", "-o", "both.ingot", *TARGET)
    assert done.exit_code == 1
    assert done.stderr.startswith(
        "sin.mlir:1:1: error: the function f is in two files of the bundle\n  func.func @f("
    )
