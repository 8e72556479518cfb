"""The host device's tests need a clang."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ingot.runtime.devices.host.errors import ClangNotFoundError
from ingot.runtime.devices.host.toolchain import find_checker, find_clang

HERE = Path(__file__).parent


@pytest.fixture
def checker() -> None:
    """Skips a test where there is no clang for the checking mode."""
    try:
        find_checker()
    except ClangNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture
def full_clang() -> str:
    """The path of a full clang, for tests of what only clang itself does."""
    clang = find_clang()
    if clang.is_zig:
        pytest.skip("zig's clang has no C++ for OpenCL and no cross-compilation of this kind")
    return clang.command[0]


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    try:
        find_clang()
    except ClangNotFoundError as error:
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=str(error)))
