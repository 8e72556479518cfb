"""IRDL definitions of the dialects that xDSL lacks, and ours in place of some that it has."""

from __future__ import annotations

from ingot.compiler.dialects import (
    late_definitions,
    lazy_formats,
    quick_construction,
    quick_walk,
)

lazy_formats.install()
late_definitions.install()
quick_construction.install()
quick_walk.install()
