"""Passes for any level: they know no dialect, only what ops say of themselves."""

PASSES: tuple[str, ...] = ("canonicalize", "cse")
