"""Finding and loading SPIRV-Cross."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ingot.targets import pyspirv
from ingot.targets.pyspirv import library as library_module
from ingot.targets.pyspirv.library import candidates


def test_version_is_read(library: pyspirv.Library) -> None:
    assert library.version.major == 0
    assert library.version.minor >= 54
    assert str(library.version).count(".") == 2


def test_the_environment_variable_is_the_only_candidate() -> None:
    assert list(candidates({"INGOT_SPIRV_CROSS": "/x/lib.so", "VULKAN_SDK": "/sdk"})) == [
        "/x/lib.so"
    ]


def test_the_vulkan_sdk_comes_before_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_module.sys, "platform", "linux")
    found = list(candidates({"VULKAN_SDK": "/sdk"}))
    assert found[0] == "/sdk/lib/libspirv-cross-c-shared.so.0"
    assert found[-2:] == ["libspirv-cross-c-shared.so.0", "libspirv-cross-c-shared.so"]


def test_homebrew_is_searched_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_module.sys, "platform", "darwin")
    assert "/opt/homebrew/lib/libspirv-cross-c-shared.dylib" in candidates({})


def test_a_missing_library_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(pyspirv.LibraryNotFound) as error:
        pyspirv.load(tmp_path / "none.so")
    message = str(error.value)
    assert "apt install" in message
    assert "brew install spirv-cross" in message
    assert "Vulkan SDK" in message
    assert "\n" not in message


def test_another_library_is_refused() -> None:
    with pytest.raises(pyspirv.UnsupportedVersion, match="lacks spvc_"):
        pyspirv.load("libc.so.6" if sys.platform == "linux" else "libSystem.dylib")


def test_pyspirv_needs_nothing_else_of_ingot() -> None:
    code = (
        "import sys; from ingot.targets import pyspirv; pyspirv.load();"
        "print([m for m in sys.modules if m.startswith(('ingot.', 'xdsl', 'numpy'))"
        " and not m.startswith('ingot.targets')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
