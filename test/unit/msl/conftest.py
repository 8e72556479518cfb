"""`library`: each SPIRV-Cross that is there."""

from __future__ import annotations

import pytest
from unit.pyspirv.libraries import LIBRARIES

from ingot.targets.pyspirv import Library


@pytest.fixture(params=LIBRARIES, ids=lambda x: f"api{x.version}")
def library(request: pytest.FixtureRequest) -> Library:
    return request.param
