"""`ingot compile --metallib`, with an `xcrun` that only fakes Apple's tools."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.fake_xcrun import FakeXcrun

import ingot.runtime as rt
from ingot.targets.metallib import MetallibError, compiler_options
from ingot.tools.doctor import Finding, examine
from ingot.tools.main import command

PROGRAM = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INGOT_CACHE_DIR", str(tmp_path / "cache"))
    Path("f.mlir").write_text(PROGRAM)
    return tmp_path


@pytest.fixture
def xcrun(folder: Path, monkeypatch: pytest.MonkeyPatch) -> FakeXcrun:
    return FakeXcrun(folder / "bin", monkeypatch)


def compile_it(*words: str, target: str = "metal:apple7") -> Result:
    words = ("compile", "f.mlir", "-o", "f.ingot", "--target", target, *words)
    return CliRunner().invoke(command, list(words), prog_name="ingot")


def test_libraries_lie_beside_the_text(folder: Path, xcrun: FakeXcrun) -> None:
    done = compile_it("--metallib", "macosx", "--metallib", "iphoneos", "--math", "strict")
    assert done.exit_code == 0, done.output
    [kernel] = rt.load("f.ingot").bundle.variants[0].kernels
    assert [library.platform for library in kernel.metallibs] == ["macosx", "iphoneos"]
    assert kernel.metallib_for("iphoneos") == f"MTLB iphoneos\n{kernel.msl}".encode()
    assert kernel.metallib_for("iphonesimulator") == b""
    shown = CliRunner().invoke(command, ["inspect", "f.ingot"], prog_name="ingot").output
    assert "metallibs for macosx, iphoneos\n" in shown
    calls = [call for call in xcrun.calls() if "-c" in call or call[2] == "metallib"]
    compiled = sorted(call[1:-4] for call in calls if call[2] == "metal")
    options = ["-std=metal3.1", "-fno-fast-math", "-ffp-contract=off"]
    assert compiled == [
        ["iphoneos", "metal", "-target", "air64-apple-ios17.0", *options],
        ["macosx", "metal", "-target", "air64-apple-macos14.0", *options],
    ]
    assert sorted(call[:3] for call in calls if call[2] == "metallib") == [
        ["-sdk", sdk, "metallib"] for sdk in ("iphoneos", "macosx")
    ]


def test_the_cache_knows_the_version_of_the_tools(folder: Path, xcrun: FakeXcrun) -> None:
    def compiles() -> int:
        assert compile_it("--metallib", "macosx").exit_code == 0
        return sum("-c" in call for call in xcrun.calls())

    assert [compiles(), compiles()] == [1, 0]
    assert compile_it().exit_code == 0
    assert rt.load("f.ingot").bundle.variants[0].kernels[0].metallibs == ()
    xcrun.install("Apple metal version 32023.620")
    assert compiles() == 1


def test_what_the_compiler_refuses_names_the_kernel(folder: Path, xcrun: FakeXcrun) -> None:
    xcrun.refuse()
    done = compile_it("--metallib", "macosx")
    assert done.exit_code == 1
    assert (
        "kernel 'f_exp' does not compile for macosx: f_exp.metal:3:5: error: use of" in done.stderr
    )
    assert not Path("f.ingot").exists()


def test_an_xcode_without_the_compiler(folder: Path, xcrun: FakeXcrun) -> None:
    xcrun.install("")
    done = compile_it("--metallib", "iphonesimulator")
    assert done.exit_code == 1
    assert "--metallib iphonesimulator: xcrun finds no Metal compiler: xcrun: error:" in done.stderr
    assert "MetalToolchain" in done.stderr


def test_without_xcrun(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    done = compile_it("--metallib", "macosx")
    assert done.exit_code == 1
    assert "error: --metallib needs Apple's Metal compiler" in done.stderr
    assert not Path("f.ingot").exists()


def test_the_doctor_knows_the_compiler_on_a_mac(
    xcrun: FakeXcrun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    def found() -> Finding:
        return next(finding for finding in examine() if finding.name == "Metal compiler")

    assert (found().state, found().found[:19]) == ("ok", "Apple metal version")
    xcrun.install("")
    assert found().state == "missing"
    assert "MetalToolchain" in found().found


def test_what_metallib_goes_with(folder: Path) -> None:
    no_metal = compile_it("--metallib", "macosx", target="vulkan:generic")
    assert (no_metal.exit_code, "no --target is" in no_metal.stderr) == (2, True)
    header = compile_it("--metallib", "macosx", "--emit", "c-header")
    assert (header.exit_code, "f_f" in Path("f.ingot").read_text()) == (0, True)
    text = compile_it("--metallib", "macosx", "--emit", "msl")
    assert (text.exit_code, "needs a bundle" in text.stderr) == (2, True)


def test_options_of_each_platform() -> None:
    assert compiler_options("iphonesimulator", "fast", (3, 2)) == [
        "-target",
        "air64-apple-ios18.0-simulator",
        "-std=metal3.2",
        "-ffast-math",
    ]
    assert compiler_options("macosx", "safe", (2, 4))[2] == "-std=macos-metal2.4"
    assert compiler_options("iphoneos", "safe", (2, 4))[1:3] == [
        "air64-apple-ios15.0",
        "-std=ios-metal2.4",
    ]
    with pytest.raises(MetallibError, match=r"knows no Metal 9\.0"):
        compiler_options("macosx", "safe", (9, 0))
