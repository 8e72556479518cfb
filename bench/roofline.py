"""What the device can do at best, measured with kernels that do nothing else."""

from __future__ import annotations

import time
from dataclasses import dataclass

from bench import cases
from bench.cases import Case
from bench.peers.ingot import Ingot
from ingot.targets.profiles import PROFILES

_STEPS, _CHAINS = 256, 8
_WARM_UP = 1.0
"""Seconds until a GPU's clocks have risen from where they idle."""


@dataclass(frozen=True)
class Peaks:
    """Bytes and f32 flops a second."""

    bandwidth: float
    flops: float
    matrix_flops: float | None
    """Of f16 products on matrix units, as the device's maker says; None without such units."""

    def bound(self, case: Case) -> float:
        """The seconds that a case takes at least, whatever limits it."""
        on_units = case.element == "f16" and self.matrix_flops
        return max(case.bytes / self.bandwidth, case.flops / (on_units or self.flops))


def measure_peaks(peer: Ingot, elements: int) -> Peaks:
    """The best of several runs: copies by the device's own command and by a kernel, and fmas."""
    scale, arithmetic = cases.scale(elements), fused_multiply_adds(elements // 64)
    end = time.perf_counter() + _WARM_UP
    while time.perf_counter() < end:
        _best_copy(peer, elements * 4)
    profile = PROFILES[peer.target]
    has_units = any(unit.element == "f16" for unit in profile.matrix_units)
    return Peaks(
        matrix_flops=profile.peaks.matrix_flops if has_units and profile.peaks else None,
        bandwidth=scale.bytes / min(_best(peer, scale), _best_copy(peer, elements * 4)),
        flops=arithmetic.flops / _best(peer, arithmetic),
    )


def _best_copy(peer: Ingot, size: int) -> float:
    device = peer.device
    source, target = (device.allocate(size).whole for _ in range(2))
    commands = device.create_command_buffer()
    commands.begin()
    commands.copy(source, target)
    commands.end()
    done, times = device.create_semaphore(), []
    for turn in range(1, 11):
        start = time.perf_counter()
        device.queue.submit([commands], signal=[(done, turn)])
        done.wait(turn)
        times.append(time.perf_counter() - start)
    return min(times)


def _best(peer: Ingot, case: Case) -> float:
    prepared = peer.prepare(case, case.inputs())
    times: list[float] = []
    for _ in range(10):
        start = time.perf_counter()
        prepared.run()
        call = time.perf_counter() - start
        times.append(prepared.kernel_seconds() or call)
    return min(times)


def fused_multiply_adds(size: int) -> Case:
    """Independent chains of multiply-adds for each element, and one load and store."""
    vector = f"tensor<{size}xf32>"
    names = [f"%x{i}" for i in range(_CHAINS)]
    starts = "\n".join(
        f"    %s{i} = arith.constant {i}.5 : f32\n    %i{i} = arith.addf %in, %s{i} : f32"
        for i in range(_CHAINS)
    )
    carried = ", ".join(f"{n} = %i{i}" for i, n in enumerate(names))
    types = ", ".join(["f32"] * _CHAINS)
    steps = "\n".join(f"      %y{i} = math.fma {n}, %a, %b : f32" for i, n in enumerate(names))
    sums = "\n".join(f"    %t{i + 1} = arith.addf %t{i}, %l#{i} : f32" for i in range(_CHAINS))
    text = f"""#id = affine_map<(i) -> (i)>
func.func @main(%x: {vector}) -> {vector} {{
  %a = arith.constant 0.5 : f32
  %b = arith.constant 0.25 : f32
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant {_STEPS} : index
  %empty = tensor.empty() : {vector}
  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
      ins(%x : {vector}) outs(%empty : {vector}) {{
  ^bb0(%in: f32, %out: f32):
{starts}
    %l:{_CHAINS} = scf.for %i = %zero to %steps step %one iter_args({carried}) -> ({types}) {{
{steps}
      scf.yield {", ".join(f"%y{i}" for i in range(_CHAINS))} : {types}
    }}
    %t0 = arith.constant 0.0 : f32
{sums}
    linalg.yield %t{_CHAINS} : f32
  }} -> {vector}
  return %r : {vector}
}}
"""
    scale = cases.scale(size)
    return Case(
        name="fused_multiply_adds",
        family="fma",
        text=text,
        inputs=scale.inputs,
        expected=scale.expected,
        flops=2.0 * size * _STEPS * _CHAINS,
        bytes=scale.bytes,
    )
