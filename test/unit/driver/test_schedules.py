"""Schedules as files: what is written can be read, and what cannot be meant is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver.compile import compile_text
from ingot.compiler.driver.diagnostics import CompileError
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.schedules import read_schedules, schedules_text
from ingot.runtime import LoadedBundle

PROGRAM = """
func.func @{name}(%x: tensor<64x96xf32>) -> tensor<96x64xf32> {{
  %e = tensor.empty() : tensor<96x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x96xf32>) outs(%e : tensor<96x64xf32>)
      permutation = [1, 0]
  func.return %t : tensor<96x64xf32>
}}
"""
TARGET = "metal:apple7"


def compiled(name="main", schedules=()):
    options = CompileOptions(targets=(TARGET,), schedules=schedules, keep_schedules=True)
    return compile_text(PROGRAM.format(name=name), "transpose.mlir", options)


def test_what_is_printed_reads_back_and_changes_nothing():
    first = compiled()
    (entry,) = first.targets[0].schedules
    assert read_schedules(schedules_text([entry]), "s.json") == (entry,)
    again = compiled(schedules=(entry,))
    assert again.targets[0].kernels == first.targets[0].kernels
    assert "schedules=" in again.bundle.provenance.pipeline


def test_a_kernel_is_known_by_what_it_computes():
    assert compiled("main").targets[0].schedules == compiled("other").targets[0].schedules


def test_a_schedule_from_a_file_is_obeyed_and_computes_the_same():
    (entry,) = compiled().targets[0].schedules
    text = schedules_text([entry]).replace(
        '"threadgroup": [32, 32], "thread": [4, 4], "threads": 64',
        '"threadgroup": [16, 16], "thread": [2, 8], "threads": 16',
    )
    result = compiled(schedules=read_schedules(text, "s.json"))
    (kernel,) = result.bundle.variants[0].kernels
    assert kernel.threadgroup_size == (16, 1, 1)
    x = np.random.default_rng(0).standard_normal((64, 96), np.float32)
    got = LoadedBundle(result.bundle, "").bind("host").main(x)
    np.testing.assert_array_equal(got, x.T)


def test_a_schedule_that_does_not_fit_names_the_kernel():
    (entry,) = compiled().targets[0].schedules
    text = schedules_text([entry]).replace('"threads": 64', '"threads": 128')
    with pytest.raises(Refusal, match=r"kernel 'main_copy' does not fit: threads is 128"):
        compiled(schedules=read_schedules(text, "s.json"))


GOOD = {
    "target": TARGET,
    "kernel": "k",
    "schedule": {"kind": "row", "threadgroup": [1], "thread": [1], "threads": 32},
}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], 'a file of schedules is {"schedules": [...]}'),
        ({"schedules": {}}, '"schedules" must be a list'),
        ({"schedules": [3]}, "schedule 1: an entry must be an object"),
        (
            {"schedules": [GOOD, {**GOOD, "name": 1}]},
            'schedule 2: an entry has an unknown key "name"',
        ),
        ({"schedules": [{**GOOD, "target": "x"}]}, 'schedule 1: unknown target "x"'),
        ({"schedules": [{**GOOD, "kernel": 1}]}, 'schedule 1: "kernel" must be a string'),
        ({"schedules": [{**GOOD, "schedule": {}}]}, 'schedule 1: "schedule" lacks "kind"'),
        (
            {"schedules": [{**GOOD, "schedule": {**GOOD["schedule"], "tile": 1}}]},
            'schedule 1: "schedule" has an unknown key "tile"',
        ),
        (
            {"schedules": [{**GOOD, "schedule": {**GOOD["schedule"], "kind": "fast"}}]},
            'schedule 1: "kind" must be one of pointwise, contraction, row, column, attention',
        ),
        (
            {"schedules": [{**GOOD, "schedule": {**GOOD["schedule"], "thread": 1}}]},
            'schedule 1: "thread" must be a list of numbers',
        ),
        (
            {"schedules": [{**GOOD, "schedule": {**GOOD["schedule"], "threads": -1}}]},
            'schedule 1: "threads" must be a number that is not negative',
        ),
    ],
)
def test_a_file_that_is_wrong_says_where(data, sentence):
    with pytest.raises(CompileError) as caught:
        read_schedules(json.dumps(data), "s.json")
    assert str(caught.value).startswith(sentence)


def test_what_is_not_json():
    with pytest.raises(CompileError, match="not JSON: Expecting value at line 2, column 1"):
        read_schedules("\n]", "s.json")
