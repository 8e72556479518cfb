"""The Bazel rules: the example builds, and builds again what changed and no more.

Runs with Debian's `bazel-bootstrap` and `bazel-rules-java` (100 MB, and a JDK), without a network:
rules_cc, which that Bazel would download, is a few lines here that name what is built in. What only
newer Bazels read (MODULE.bazel) is held to Python's grammar, of which Starlark's is a part.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.harness import EXAMPLES, ROOT

BIN = Path(sys.executable).parent
DEBIAN_RULES = Path("/usr/share/bazel/rules")
RULES = ROOT / "bazel"
CC = "".join(
    f"cc_{kind} = native.cc_{kind}\n"
    for kind in ("binary", "import", "library", "test", "toolchain", "toolchain_suite")
)


class Workspace:
    """A copy of the rules and the example, and the Bazel that builds them."""

    def __init__(self, folder: Path, bazel: str) -> None:
        self.folder = folder
        self.example = folder / "examples" / "bazel"
        shutil.copytree(RULES, folder / "bazel")
        shutil.copytree(EXAMPLES / "bazel", self.example)
        (folder / "rules_cc" / "cc").mkdir(parents=True)
        (folder / "rules_cc" / "WORKSPACE").touch()
        (folder / "rules_cc" / "cc" / "BUILD").touch()
        (folder / "rules_cc" / "cc" / "defs.bzl").write_text(CC)
        self.program = [bazel, f"--output_user_root={folder / 'root'}", "--max_idle_secs=60"]
        self.options = [
            f"--override_repository=rules_cc={folder / 'rules_cc'}",
            f"--override_repository=rules_java={DEBIAN_RULES / 'java'}",
            f"--override_repository=rules_proto={DEBIAN_RULES / 'proto'}",
        ]

    def run(self, command: str, *words: str) -> str:
        """What a command of Bazel prints."""
        environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            [*self.program, command, *self.options, *words],
            cwd=self.example,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def compiled(self, *words: str) -> list[str]:
        """The programs that a build compiles."""
        printed = self.run("build", "--subcommands", *words)
        return sorted(
            line.split("'")[1].removeprefix("Compiling ")
            for line in printed.splitlines()
            if "SUBCOMMAND" in line and "'Compiling" in line and ("mlir" in line or "tin" in line)
        )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """One server for all tests of this file: it takes long to start."""
    bazel = shutil.which("bazel")
    if bazel is None or not (DEBIAN_RULES / "java").is_dir():
        pytest.skip("no bazel-bootstrap and bazel-rules-java of Debian")
    made = Workspace(tmp_path_factory.mktemp("bazel"), bazel)
    yield made
    subprocess.run([*made.program, "shutdown"], cwd=made.example, capture_output=True)


def test_the_example(workspace: Workspace) -> None:
    sources = ["half.tin", "square.mlir", "twice.mlir"]
    assert workspace.compiled(":app") == sources
    assert workspace.run("run", ":app").splitlines()[:3] == ["main", "twice", "square"]
    assert workspace.compiled(":app") == []

    file = workspace.example / "twice.mlir"
    file.write_text(f"// changed\n{file.read_text()}")
    assert workspace.compiled(":app") == ["twice.mlir"]

    actions = workspace.run("aquery", "mnemonic('Ingot.*', //...)")
    assert actions.count("Mnemonic: Ingot") == 5
    inputs = "\n".join(line for line in actions.splitlines() if "  Inputs:" in line)
    assert "twice.mlir" in inputs and "versions.txt" in inputs
    # Nothing in the command lines belongs to this machine.
    commands = actions.partition("Command Line:")[2]
    assert str(workspace.folder) not in commands and str(BIN) not in commands
    assert "--no-cache" in commands

    words = ["square.mlir", "-o", "alone.ingot", "--math=strict", "--no-cache"]
    words += ["--target", "metal:apple7", "--target", "vulkan:generic"]
    subprocess.run([BIN / "ingot", "compile", *words], cwd=workspace.example, check=True)
    alone = (workspace.example / "alone.ingot").read_bytes()
    assert (workspace.example / "bazel-bin" / "square.ingot").read_bytes() == alone


OWN = """
load("@rules_ingot//:defs.bzl", "ingot_toolchain")

sh_binary(
    name = "ingot",
    srcs = ["ingot.sh"],
    data = ["marker.txt"],
)

ingot_toolchain(
    name = "own",
    compiler = ":ingot",
    env = {"MARK": "here"},
)

toolchain(
    name = "toolchain",
    toolchain = ":own",
    toolchain_type = "@rules_ingot//:toolchain_type",
)
"""


def test_a_toolchain_of_ones_own(workspace: Workspace) -> None:
    """Its command has its runfiles and its environment wherever it runs."""
    own = workspace.example / "own"
    own.mkdir()
    (own / "BUILD.bazel").write_text(OWN)
    (own / "marker.txt").touch()
    script = own / "ingot.sh"
    script.write_text(
        '#!/bin/sh\ntest -f "$0.runfiles/bundles/own/marker.txt" && test "$MARK" = here || exit 3\n'
        f'exec {BIN / "ingot"} "$@"\n'
    )
    script.chmod(0o755)
    assert workspace.compiled("--extra_toolchains=//own:toolchain", ":square") == ["square.mlir"]


@pytest.mark.parametrize(
    "path",
    [
        p
        for folder in (RULES, EXAMPLES / "bazel")
        for p in sorted(folder.rglob("*"))
        if p.suffix in (".bzl", ".bazel") or p.name == "WORKSPACE"
    ],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_files_are_starlark(path: Path) -> None:
    tree = ast.parse(path.read_text())
    forbidden = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.While, ast.Try, ast.With, ast.Raise)
    assert not [node for node in ast.walk(tree) if isinstance(node, forbidden)]
