"""The errors that reading and writing a bundle raise, and the root of the runtime's errors.

The root lives on this floor because the runtime stands on the bundle and not the other way round;
`ingot.runtime` exports it again.
"""

from __future__ import annotations


class IngotError(RuntimeError):
    """Every error that Ingot's bundle and runtime raise on purpose; its text is one sentence."""


class BundleError(IngotError):
    """A file that is not a bundle, is damaged, or is of a version that cannot be read."""
