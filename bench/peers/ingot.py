"""Ingot itself, through its runtime."""

from __future__ import annotations

from collections.abc import Sequence

from bench.cases import Array, Case
from bench.peers import Unavailable
from ingot.compiler.driver.compile import compile_text
from ingot.compiler.driver.options import CompileOptions
from ingot.runtime import IngotError, LoadedBundle, open_device
from ingot.runtime.calls import PreparedCall
from ingot.runtime.program import Program
from ingot.targets import VERSION
from ingot.tools.run import target_for


class IngotCall:
    """A prepared call, and a second one with timestamps."""

    def __init__(self, program: Program, inputs: Sequence[Array]) -> None:
        self._call = program.prepare("main", *inputs)
        self._timed: PreparedCall | None = None
        if "timestamps" in program.device.features:
            self._timed = program.prepare("main", *inputs, profiling=True)
            self._timed.run()
        self.dispatches = len(self._timed.timings) if self._timed else None

    def run(self) -> None:
        self._call.run()

    def results(self) -> list[Array]:
        results = self._call.results()
        return list(results) if isinstance(results, tuple) else [results]

    def kernel_seconds(self) -> float | None:
        if self._timed is None:
            return None
        self._timed.run()
        return sum(t.end - t.start for t in self._timed.timings) * 1e-9


class Ingot:
    """The compiler of this repository on one of its devices."""

    name = "ingot"

    def __init__(self, device: str) -> None:
        self.device = open_device(device)
        self.target = target_for(self.device)
        self.description = f"ingot {VERSION}, --target {self.target}, {self.device.name}"

    def prepare(self, case: Case, inputs: Sequence[Array]) -> IngotCall:
        try:
            options = CompileOptions(targets=(self.target,))
            bundle = compile_text(case.text, case.name, options).bundle
            return IngotCall(LoadedBundle(bundle, case.name).bind(self.device), inputs)
        except IngotError as error:
            raise Unavailable(str(error)) from error
