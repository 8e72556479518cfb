"""Every named op of linalg, end to end at odd shapes, against the reference evaluator."""

from __future__ import annotations

import pytest
from support.batch import check_module
from support.harness import DEVICES
from support.named_ops import Case, cases

GROUPS: dict[str, list[Case]] = {}
for _case in cases():
    _short = _case.name.removeprefix("linalg.")
    _group = next((g for g in ("depthwise", "conv", "pooling") if g in _short), None)
    GROUPS.setdefault(f"{_group or 'plain'}-{_case.element}", []).append(_case)


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("group", GROUPS)
def test_named_op(group: str, device_name: str) -> None:
    text = "".join(
        case.function(f"{case.name.removeprefix('linalg.')}_{case.element}")
        for case in GROUPS[group]
    )
    check_module(text, device_name)
