"""`ingot run --profile` and `--trace`: what a call spent on the device."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from ingot.runtime.hal import Timing
from ingot.tools.main import command as main
from ingot.tools.profile_text import chrome_trace, profile_text

TIMINGS = (
    Timing("copy", 1_000, 2_000),
    Timing("softmax", 2_500, 12_500),
    Timing("copy", 13_000, 13_500),
)

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def test_the_table_adds_up_what_has_one_name() -> None:
    assert profile_text(TIMINGS).splitlines() == [
        "command  times  microseconds  each  share",
        "softmax      1          10.0  10.0  87.0%",
        "copy         2           1.5   0.8  13.0%",
        "",
        "first start to last end: 12.5 microseconds",
    ]
    assert profile_text(()).endswith("first start to last end: 0.0 microseconds")


def test_the_trace_has_an_event_for_each_command() -> None:
    events = json.loads(chrome_trace(TIMINGS, "a device"))["traceEvents"]
    assert [event["args"]["name"] for event in events if event["ph"] == "M"] == [
        "ingot",
        "a device",
    ]
    assert [(e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"] == [
        ("copy", 0, 1),
        ("softmax", 1.5, 10),
        ("copy", 12, 0.5),
    ]


def test_only_metal_devices_capture(tmp_path: Path) -> None:
    program = tmp_path / "exp.mlir"
    program.write_text(PROGRAM)
    words = ["run", str(program), "--input", "4xf32=0", "--capture", str(tmp_path / "a.gputrace")]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert "cannot capture what it runs: only Metal devices do" in result.output


def test_the_command_line(tmp_path: Path) -> None:
    program, trace = tmp_path / "exp.mlir", tmp_path / "trace.json"
    program.write_text(PROGRAM)
    arguments = ["run", str(program), "--input", "4xf32=0", "--profile", "--trace", str(trace)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "1, 1, 1, 1" in result.output.replace(".", "")
    assert "microseconds" in result.output
    kernels = [e["name"] for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    assert len(kernels) == 1
