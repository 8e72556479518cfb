"""Every named op of linalg, end to end at odd shapes, against the reference evaluator."""

from __future__ import annotations

import numpy as np
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


ATTENTION = """
func.func @known(%q: tensor<2x6x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x3xf32>,
    %m: tensor<2x6x5xi1>, %o: tensor<2x6x3xf32>) -> tensor<2x6x3xf32> {
  %0 = tm_tensor.attention ins(%q, %k, %v, %m : tensor<2x6x8xf32>, tensor<2x5x8xf32>,
      tensor<2x5x3xf32>, tensor<2x6x5xi1>) outs(%o : tensor<2x6x3xf32>) {
  } -> tensor<2x6x3xf32>
  return %0 : tensor<2x6x3xf32>
}

func.func @open(%q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>,
    %o: tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32> {
  %0 = tm_tensor.attention ins(%q, %k, %v : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>,
      tensor<?x2x?x8xf32>) outs(%o : tensor<?x2x?x8xf32>) {
  } -> tensor<?x2x?x8xf32>
  return %0 : tensor<?x2x?x8xf32>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_attention(device_name: str) -> None:
    """With a mask that hides all keys from one query, and with open sizes."""
    rng = np.random.default_rng(0)
    shapes = {"known": [(2, 6, 8), (2, 5, 8), (2, 5, 3)], "open": [(3, 2, 7, 8)] * 3}
    given = {
        name: [rng.standard_normal(shape, np.float32) for shape in used]
        for name, used in shapes.items()
    }
    mask = rng.random((2, 6, 5)) > 0.4
    mask[1, 2] = False
    given["known"] += [mask, np.zeros((2, 6, 3), np.float32)]
    given["open"] += [np.zeros((3, 2, 7, 8), np.float32)]
    check_module(ATTENTION, device_name, given)
