"""The texts of a kernel side by side, and which lines of them belong together.

A line knows the lines of the source that it comes from, and in SPIR-V and MSL also the numbers of
the SPIR-V instructions that it says; lines that share some belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingot.targets.bundle import model
from ingot.targets.profiles import PROFILES
from ingot.tools.page.highlight import LONGEST, Language, runs

if TYPE_CHECKING:
    from ingot.compiler.driver.history import KernelHistory, Listing
    from ingot.targets.msl.line_table import Statement

STAGES = {
    "dispatch": ("Tensors", "L2: linalg on whole tensors, fused"),
    "tiles": ("Tiles", "L3: scheduled and tiled, still on tensors"),
    "buffers": ("Buffers", "L4: vectors and memrefs, thread ids, barriers"),
}
"""The stages that have a pane: what the tab and its tooltip say."""


@dataclass
class Pane:
    """A text; `sources` and `code` have an entry for each line, or are empty where none has any."""

    id: str
    title: str
    about: str
    lines: list[str]
    language: Language
    sources: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    code: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])

    def data(self) -> dict[str, Any]:
        """As the page's script reads it; equal sets of lines are written once."""
        shown = [shortened(line) for line in self.lines]
        result: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "about": self.about,
            "lines": shown,
            "runs": runs(shown, self.language),
        }
        for key, sets in (("from", self.sources), ("says", self.code)):
            if any(sets):
                numbers: dict[tuple[int, ...], int] = {}
                result[key] = [numbers.setdefault(s, len(numbers)) if s else -1 for s in sets]
                result[f"{key}Sets"] = [list(s) for s in numbers]
        return result


def shortened(line: str) -> str:
    """A line as it is shown: constants may be megabytes long."""
    if len(line) <= LONGEST:
        return line
    return f"{line[:LONGEST]} … {len(line) - LONGEST} more characters"


def kernel_panes(
    kernel: model.Kernel, variant: model.Variant, history: KernelHistory | None
) -> tuple[list[Pane], str]:
    """The panes of a kernel, without the source; and why lines are not linked, if they are not."""
    from ingot.targets.spirv import disassemble

    panes: list[Pane] = []
    if history is not None:
        for stage, (title, about) in STAGES.items():
            listing = history.stages[stage]
            panes.append(
                Pane(stage, title, about, list(listing.lines), "mlir", list(listing.sources))
            )
    assembly = disassemble(kernel.spirv).splitlines()
    sources = _instruction_sources(history, len(assembly))
    code = [(number,) for number in range(len(assembly))]
    about = "SPIR-V, one instruction a line"
    panes.append(Pane("spirv", "SPIR-V", about, assembly, "spirv", sources, code))
    if not kernel.msl:
        return panes, ""
    table, why = _msl_table(kernel, variant)
    lines = kernel.msl.splitlines()
    said = [() if s is None else (s.root, *s.taken_in) for s in table] or [()] * len(lines)
    from_lines = [_union(sources, numbers) for numbers in said]
    about = "Metal Shading Language, as it is shipped"
    panes.append(Pane("msl", "MSL", about, lines, "msl", from_lines, said))
    return panes, why


def _instruction_sources(history: KernelHistory | None, count: int) -> list[tuple[int, ...]]:
    if history is None or len(history.instructions) != count:
        return [()] * count
    listing: Listing = history.stages["spirv"]
    return [() if line is None else listing.sources[line] for line in history.instructions]


def _union(sets: Sequence[tuple[int, ...]], numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted({line for number in numbers for line in sets[number]}))


def _msl_table(
    kernel: model.Kernel, variant: model.Variant
) -> tuple[Sequence[Statement | None], str]:
    """What each line of the MSL says; nothing, and why, where it cannot be found out here."""
    from ingot.targets import pyspirv
    from ingot.targets.msl import MslError, MslOptions
    from ingot.targets.msl.line_table import line_table
    from ingot.targets.msl.math_mode import MathMode

    profile = PROFILES.get(variant.target)
    modes: dict[str, MathMode] = {"safe": "safe", "fast": "fast", "strict": "strict"}
    if profile is None or variant.math_mode not in modes:
        return (), f"this version of Ingot does not know the target {variant.target}"
    options = MslOptions(
        msl_version=variant.msl_version,
        max_buffers=profile.max_buffers,
        math=modes[variant.math_mode],
    )
    try:
        table = line_table(kernel.spirv, kernel.msl, kernel_name=kernel.name, options=options)
    except (pyspirv.LibraryNotFound, MslError) as error:
        return (), str(error)
    if table is None:
        version = pyspirv.load().version
        return (), f"the SPIRV-Cross of this machine ({version}) writes this kernel in other words"
    return table, ""
