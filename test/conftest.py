"""What every test gets: a compile cache of its own, so that none sees what another compiled."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

_number = count()


@pytest.fixture(autouse=True)
def _own_cache(  # pyright: ignore[reportUnusedFunction]
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = tmp_path_factory.getbasetemp() / f"cache-{next(_number)}"
    monkeypatch.setenv("INGOT_CACHE_DIR", str(folder))
