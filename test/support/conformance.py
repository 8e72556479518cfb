"""Compile and run one program of a folder of `NAME.mlir` with `NAME.npz`, and judge its values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver.verify_values import compare
from ingot.targets.bundle.model import DType, TensorType
from ingot.targets.bundle.writer import write_bundle
from support.harness import bundle_for, device, rt

Array = NDArray[Any]

_TYPE = re.compile(r"_(bool|u?int\d+|b?float\d+)(_|$)")


@dataclass(frozen=True)
class Outcome:
    """What became of a program on a device: `right`, `refused`, `wrong` or `crash`, and why."""

    name: str
    device: str
    verdict: str
    reason: str = ""

    @property
    def group(self) -> str:
        """The op that the program is about: its name up to the first type."""
        return _TYPE.split(self.name, maxsplit=1)[0]


def arrays(data: dict[str, Array], prefix: str, types: tuple[TensorType, ...]) -> list[Array]:
    """`in0`, `in1`, ... with bf16 restored from its bits."""
    found: list[Array] = []
    for index, type_ in enumerate(types):
        array = data[f"{prefix}{index}"]
        found.append(array.view(ml_dtypes.bfloat16) if type_.dtype is DType.BF16 else array)
    return found


def run_program(path: Path, values: Path, device_name: str) -> Outcome:
    """Compile `path` for the device, run it on the inputs of `values`, compare with its outputs."""
    name = path.stem
    try:
        bundle = bundle_for(path.read_text(), device_name, path.name)
    except Refusal as refusal:
        return Outcome(name, device_name, "refused", str(refusal))
    with np.load(values) as file:
        data = dict(file)
    (function,) = bundle.functions
    inputs = arrays(data, "in", function.arguments)
    expected = arrays(data, "out", function.results)
    loaded = rt.loads(write_bundle(bundle)).bind(device(device_name))
    result = loaded.call(function.name, *inputs)
    results = list(result) if isinstance(result, tuple) else [result]
    if len(results) != len(expected):
        return Outcome(name, device_name, "wrong", f"{len(results)} results")
    for index, (got, want) in enumerate(zip(results, expected, strict=True)):
        if got.dtype != want.dtype:
            return Outcome(name, device_name, "wrong", f"result {index} is {got.dtype}")
        comparison = compare(got, want.reshape(got.shape))
        if not comparison.is_right:
            return Outcome(name, device_name, "wrong", f"result {index}: {comparison}")
    return Outcome(name, device_name, "right")


def judge(job: tuple[Path, Path, str]) -> Outcome:
    """`run_program`, where a bug is an outcome too."""
    path, values, device_name = job
    try:
        return run_program(path, values, device_name)
    except Exception as error:
        return Outcome(path.stem, device_name, "crash", f"{type(error).__name__}: {error}")
