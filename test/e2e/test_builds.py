"""The example projects of build systems: they build, and build again what changed and no more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.harness import EXAMPLES, device

BIN = Path(sys.executable).parent


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    return tmp_path / "examples"


def run(*command: str | Path, cwd: Path) -> str:
    program = shutil.which(str(command[0]), path=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        pytest.skip(f"no {command[0]}")
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [program, *map(str, command[1:])], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def touch(path: Path) -> None:
    """Make a file newer than everything that was just built."""
    later = time.time() + 60
    os.utime(path, (later, later))


def test_make(projects: Path) -> None:
    folder = projects / "make"
    assert run("make", cwd=folder).count("ingot compile") == 2
    assert "ingot compile" not in run("make", cwd=folder)
    touch(projects / "saxpy.mlir")
    assert run("make", cwd=folder).count("ingot compile") == 1


def test_ninja(projects: Path) -> None:
    folder = projects / "make"
    assert "[2/2]" in run("ninja", cwd=folder)
    assert "no work to do" in run("ninja", cwd=folder)
    touch(projects / "softmax.mlir")
    assert "[1/1] bundle softmax.ingot" in run("ninja", cwd=folder)


def test_meson(projects: Path) -> None:
    folder = projects / "meson"
    run("meson", "setup", "build", cwd=folder)
    run("meson", "compile", "-C", "build", cwd=folder)
    assert (folder / "build" / "softmax.ingot").read_bytes()[4:8] == b"INGT"
    assert "no work to do" in run("meson", "compile", "-C", "build", cwd=folder)
    touch(projects / "saxpy.mlir")
    assert "[1/1]" in run("meson", "compile", "-C", "build", cwd=folder)


def test_cmake_builds_an_app_with_bundles_inside(projects: Path) -> None:
    if not Path("/usr/include/vulkan/vulkan.h").exists():
        pytest.skip("no headers of Vulkan")
    device("vulkan")
    folder = projects / "cmake"
    where = run("ingot", "--cmake-dir", cwd=folder).strip()
    run("cmake", "-G", "Ninja", "-B", "build", f"-DIngot_DIR={where}", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    assert subprocess.run(
        [folder / "build" / "app"], capture_output=True, text=True, check=True
    ).stdout.splitlines() == ["softmax: the first row sums to 1.0000", "saxpy: 2 * 5 + 5 = 15"]
    assert "no work to do" in run("cmake", "--build", "build", cwd=folder)
    touch(projects / "saxpy.mlir")
    again = run("cmake", "--build", "build", cwd=folder)
    assert "Compiling saxpy.ingot" in again
    assert "softmax.ingot" not in again
