"""`ingot doctor`: what Ingot finds on this machine, and what to do about what it misses."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import click

from ingot.tools.report import debug_option, reported

State = Literal["ok", "missing", "unused"]

_OPTIONAL = ("clang", "MSL checker", "Metal compiler")
"""What only the host device, `--check-msl` and `--metallib` need."""


@dataclass(frozen=True)
class Finding:
    """One thing that Ingot uses: what is there, or what to do."""

    name: str
    state: State
    """`missing` where something does not work without it, `unused` where nobody here needs it."""
    found: str
    advice: str = ""


@click.command("doctor", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def command(as_json: bool, debug: bool) -> None:
    """Say what is installed, which devices there are, and how to get what is missing.

    The exit status is 1 when bundles cannot be compiled, or run on no device.

    \b
    Example:
      ingot doctor
    """
    with reported(debug):
        findings = list(examine())
        if as_json:
            click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
        else:
            click.echo("\n".join(_lines(findings)))
    raise SystemExit(0 if _is_able(findings) else 1)


def _lines(findings: list[Finding]) -> Iterator[str]:
    width = max(len(finding.name) for finding in findings)
    marks = {"ok": "ok", "missing": "MISSING", "unused": "-"}
    for finding in findings:
        yield f"{marks[finding.state]:8}{finding.name:{width}}  {finding.found}".rstrip()
        if finding.advice:
            yield f"{'':8}{'':{width}}  {finding.advice}"
    able = "compiles bundles and runs them" if _is_able(findings) else "is not complete"
    yield f"\nThis installation {able}."


def _is_able(findings: list[Finding]) -> bool:
    devices = [finding for finding in findings if finding.name.startswith("device ")]
    needed = [
        f
        for f in findings
        if f not in devices and f.name not in _OPTIONAL and not f.name.startswith("plugin ")
    ]
    return all(f.state == "ok" for f in needed) and any(f.state == "ok" for f in devices)


def examine() -> Iterator[Finding]:
    """Everything that Ingot uses outside of its own code."""
    import platform

    yield Finding("Python", "ok", platform.python_version())
    yield from _packages()
    for name, ask, advice in (
        ("SPIRV-Cross", _spirv_cross, "without it metal: targets cannot be compiled"),
        ("SPIRV-Tools", _spirv_tools, "without it no SPIR-V is validated"),
        ("clang", _clang, "without it the host device cannot run"),
        ("MSL checker", _checker, "without it --check-msl cannot check"),
    ):
        yield _asked(name, ask, advice)
    if sys.platform == "darwin":
        yield _asked("Metal compiler", _metal_tools, "without it --metallib cannot compile")
    yield from _devices()
    yield from _plugins()


def _packages() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    from ingot.targets import VERSION

    yield Finding("ingot-compiler", "ok", VERSION)
    for package in ("xdsl", "numpy", "flatbuffers", "vulkan"):
        try:
            yield Finding(package, "ok", version(package))
        except PackageNotFoundError:
            yield Finding(package, "missing", "not installed", f"pip install {package}")


def _asked(name: str, ask: Callable[[], str], advice: str) -> Finding:
    from ingot.targets.bundle.errors import IngotError
    from ingot.targets.pyspirv import LibraryNotFound
    from ingot.targets.spirv.errors import SpirvToolsMissing

    try:
        return Finding(name, "ok", ask())
    except (IngotError, LibraryNotFound, SpirvToolsMissing) as reason:
        return Finding(name, "missing", str(reason), advice)


def _spirv_cross() -> str:
    from ingot.targets import pyspirv

    library = pyspirv.load()
    return f"{library.version} ({library.path})"


def _spirv_tools() -> str:
    from ingot.targets.spirv import tools_version

    return tools_version()


def _clang() -> str:
    from ingot.runtime.devices.host.toolchain import find_clang

    clang = find_clang()
    return f"{clang.version} ({' '.join(clang.command)})"


def _checker() -> str:
    from ingot.runtime.devices.host.toolchain import find_checker

    clang = find_checker()
    return f"{clang.version} ({' '.join(clang.command)})"


def _metal_tools() -> str:
    from ingot.targets.metallib import MetalTools

    return MetalTools.find("macosx").version.splitlines()[0]


def _plugins() -> Iterator[Finding]:
    """The passes and dialects that other packages offer, loaded to see whether they can be."""
    from ingot.compiler.plugins import (
        DIALECTS,
        PASSES,
        PluginError,
        find_dialect,
        find_pass,
        offers,
    )

    for group, find in ((PASSES, find_pass), (DIALECTS, find_dialect)):
        for name, offer in sorted(offers(group).items()):
            try:
                find(name)
                yield Finding(f"plugin {name}", "ok", offer.package)
            except PluginError as error:
                advice = f"pip install --force-reinstall {offer.package}, or tell its authors"
                yield Finding(f"plugin {name}", "missing", str(error), advice)


def _devices() -> Iterator[Finding]:
    from ingot.runtime import list_devices

    for device in list_devices():
        name = f"device {device.name}"
        if device.is_available:
            found = f"{device.description}, SIMD width {device.simd_width}"
            yield Finding(name, "ok", found)
        elif device.name == "metal" and sys.platform != "darwin":
            yield Finding(name, "unused", device.problem or "")
        else:
            yield Finding(name, "missing", device.problem or "")
