"""The C library's Metal back end: its Objective-C by clang, and run on a stand-in for Metal.

Only a Mac has Metal's own headers; docs/metal.md says what these tests do not show.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.bundles import call_of_main
from support.harness import ROOT, Array, assert_close
from support.metal_back_end import (
    EMBED,
    INCLUDES,
    MEMORY,
    WARNINGS,
    BackEnd,
    build_back_ends,
    find_clang,
)

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.bundle import model as m
from ingot.targets.bundle.writer import write_bundle

from .test_embed import INPUTS, PROGRAMS

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="this is a Mac, with headers")

FORTY = "func.func @main({}) -> tensor<4xf32> {{\n{}  return %s39 : tensor<4xf32>\n}}".format(
    ", ".join(f"%a{i}: tensor<4xf32>" for i in range(40)),
    "".join(
        f"  %s{i} = arith.addf %{f's{i - 1}' if i > 1 else 'a0'}, %a{i} : tensor<4xf32>\n"
        for i in range(1, 40)
    ),
)
SOURCE = EMBED / "metal" / "ingot_metal.m"
PLATFORMS = {
    "macOS with ARC": ["-target", "{machine}-apple-macos14.0", "-fobjc-arc"],
    "iOS without ARC": ["-target", "{machine}-apple-ios17.0", "-DTARGET_OS_IPHONE=1"],
    "the simulator with ARC": [
        *("-target", "{machine}-apple-ios17.0-simulator", "-fobjc-arc"),
        *("-DTARGET_OS_IPHONE=1", "-DTARGET_OS_SIMULATOR=1"),
    ],
}


def check_syntax(source: Path, options: list[str]) -> str:
    """What clang says for one of Apple's systems, with this system's C library."""
    machine = platform.machine()
    include = ["-isystem", "/usr/include", "-isystem", f"/usr/include/{machine}-linux-gnu"]
    words = [option.format(machine=machine) for option in options]
    # clang has a macro of the name of one of glibc's, on Apple's systems only.
    command = [find_clang(), "-fsyntax-only", "-fblocks", "-U__nonnull", *words, *WARNINGS]
    command += ["-Wunguarded-availability", *INCLUDES, *include, str(source)]
    return subprocess.run(command, capture_output=True, text=True).stderr


@pytest.mark.parametrize("name", PLATFORMS)
def test_clang_takes_the_back_end(name: str) -> None:
    assert check_syntax(SOURCE, PLATFORMS[name]) == ""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("waitUntilCompleted", "waitUntilComplete"),
        ("offset:0 atIndex:0", "atIndex:0 offset:0"),
        ("if (@available(macOS 15.0, iOS 18.0, *))", "if (1)"),
        ("symbol ? OWN", "library ? OWN"),
    ],
)
def test_clang_refuses_what_metal_does_not_have(right: str, wrong: str, tmp_path: Path) -> None:
    text = SOURCE.read_text()
    assert right in text
    (tmp_path / "wrong.m").write_text(text.replace(right, wrong))
    refused = check_syntax(tmp_path / "wrong.m", PLATFORMS["macOS with ARC"])
    assert ("error:" in refused) is (right != "symbol ? OWN")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_back_ends(tmp_path_factory.mktemp("metal") / "back_ends.so")


@pytest.fixture(scope="module", params=MEMORY)
def back_end(request: pytest.FixtureRequest, library: Path) -> BackEnd:
    return BackEnd(library, request.param)


def compiled(text: str, math: str = "safe") -> m.Bundle:
    return compile_module(text, "test.mlir", CompileOptions(targets=("metal:apple7",), math=math))


def call(
    back_end: BackEnd, bundle: m.Bundle, inputs: list[Array], results: list[Array], folder: Path
) -> int:
    """Run `main` twice; the results are read into `results`."""
    capacities = [result.nbytes for result in results]
    words, outputs = call_of_main(write_bundle(bundle), inputs, capacities, folder)
    status = back_end.run_bundle(words)
    for file, result in zip(outputs, results if not status else (), strict=False):
        result[...] = np.fromfile(file, result.dtype).reshape(result.shape)
    return status


@pytest.mark.parametrize("name", [*PROGRAMS, "forty buffers"])
def test_programs_run_as_in_python(name: str, back_end: BackEnd, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    text = PROGRAMS.get(name, FORTY)
    inputs = INPUTS.get(name) or [rng.random(4, np.float32) for _ in range(40)]
    expected = evaluate(read_module(text, "test.mlir", make_context()), "main", inputs)
    results = [np.zeros_like(value) for value in expected]
    before = back_end.objects
    assert call(back_end, compiled(text), inputs, results, tmp_path) == 0
    for got, value in zip(results, expected, strict=True):
        assert_close(got, value)
    assert back_end.broken_rule is None
    assert back_end.objects == before


def test_fills_and_copies_at_any_offset(back_end: BackEnd, tmp_path: Path) -> None:
    def part(offset: int, length: int) -> m.BufferRef:
        return m.BufferRef(m.BufferKind.RESULT, 0, offset, length)

    commands = (
        m.Fill(part(0, 64), b"\1"),
        m.Barrier(),
        m.Fill(part(1, 5), b"ab"),
        m.Fill(part(8, 8), b"cd"),
        m.Fill(part(16, 8), b"efgh"),
        m.Barrier(),
        m.Copy(part(1, 5), part(33, 5)),
        m.Copy(part(8, 16), part(40, 16)),
    )
    main = m.Function("main", (), (m.TensorType(m.DType.I8, (64,)),))
    body = m.FunctionBody(commands)
    variant = m.Variant("metal:apple7", "metal", 7, 32, "safe", (3, 1), (), (body,))
    result = np.zeros(64, np.int8)
    bundle = m.Bundle((main,), (), (variant,), m.Provenance("", "", "", ""))
    assert call(back_end, bundle, [], [result], tmp_path) == 0
    expected = bytearray(b"\1" * 64)
    expected[1:6] = expected[33:38] = b"ababa"
    expected[8:24] = expected[40:56] = b"cdcdcdcdefghefgh"
    assert result.tobytes() == expected
    assert back_end.broken_rule is None


def test_a_metallib_goes_before_the_text(back_end: BackEnd, tmp_path: Path) -> None:
    bundle = compiled(PROGRAMS["open"], "fast")
    [variant] = bundle.variants
    kernels = [
        replace(
            k, msl="no MSL", metallibs=(m.Metallib("macosx", b"MTLB macosx\n" + k.msl.encode()),)
        )
        for k in variant.kernels
    ]
    ahead = replace(bundle, variants=(replace(variant, kernels=tuple(kernels)),))
    results = [np.zeros((5, 3), np.float32)]
    for one in (bundle, ahead):
        back_end.sources.clear()
        assert call(back_end, one, INPUTS["open"], results, tmp_path) == 0
        assert np.array_equal(results[0], INPUTS["open"][0])
        # Only text is compiled with a math mode.
        assert (variant.kernels[0].msl, one is bundle) in back_end.sources


def test_a_failed_command_buffer_fails_the_call_and_no_other(
    back_end: BackEnd, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bundle, results = compiled(PROGRAMS["open"]), [np.zeros((5, 3), np.float32)]
    back_end.failure = "the GPU hung"
    assert call(back_end, bundle, INPUTS["open"], results, tmp_path) == 1
    assert capfd.readouterr().err == "error: Metal failed: the GPU hung\n"
    assert call(back_end, bundle, INPUTS["open"], results, tmp_path) == 0
    assert np.array_equal(results[0], INPUTS["open"][0])
    assert back_end.broken_rule is None


CMAKE = """
cmake_minimum_required(VERSION 3.20)
project(app C)
set(APPLE 1)
find_package(Ingot REQUIRED)
add_library(app STATIC app.c)
target_link_libraries(app PRIVATE Ingot::metal)
"""


def test_cmake_makes_the_back_end_a_target(tmp_path: Path) -> None:
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if cmake is None:
        pytest.skip("no cmake")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "app.c").write_text(
        '#include "ingot_metal.h"\nint (*open_device)() = ingot_metal_open;\n'
    )
    flags = " ".join(["-fobjc-runtime=gcc", "-fblocks", *INCLUDES[-1:]])
    options = [f"-DIngot_DIR={ROOT / 'cmake'}", f"-DCMAKE_OBJC_COMPILER={find_clang()}"]
    options += [f"-DCMAKE_OBJC_FLAGS={flags}", f"-DCMAKE_C_COMPILER={find_clang()}"]
    for words in (["-S", ".", "-B", "build", *options], ["--build", "build"]):
        done = subprocess.run([cmake, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "build" / "libingot_metal.a").exists()


def test_what_metal_refuses_arrives(
    back_end: BackEnd, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bundle = compiled(PROGRAMS["open"])
    [variant] = bundle.variants
    for changes, sentence in (
        ({"msl": "kernel void f() { x = 1; }"}, "' does not compile: "),
        ({"msl": ""}, "' has neither MSL nor a metallib for this platform"),
        ({"entry_point": "other"}, "' has no function 'other'"),
        ({"metallibs": (m.Metallib("macosx", b"other"),)}, "' does not load: Invalid library file"),
        (
            {"threadgroup_size": (64, 64, 1)},
            " has 4096 threads a threadgroup; the GPU",
        ),
    ):
        kernels = tuple(replace(kernel, **changes) for kernel in variant.kernels)
        damaged = replace(bundle, variants=(replace(variant, kernels=kernels),))
        assert call(back_end, damaged, INPUTS["open"], [np.zeros(15, np.float32)], tmp_path) == 1
        assert sentence in capfd.readouterr().err
    assert back_end.broken_rule is None
