"""What every test gets: a compile cache of its own, so that none sees what another compiled, and
all the time it takes, since a busy machine says nothing about a program."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

_number = count()


@pytest.fixture(autouse=True)
def _own_cache(  # pyright: ignore[reportUnusedFunction]
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = tmp_path_factory.getbasetemp() / f"cache-{next(_number)}"
    monkeypatch.setenv("INGOT_CACHE_DIR", str(folder))
