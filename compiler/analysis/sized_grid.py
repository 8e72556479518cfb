"""The grid of a kernel whose sizes a call decides: one thread an element of the results."""

from __future__ import annotations

THREADS = 64
"""Threads of a threadgroup."""
GROUPS_X = 1 << 15
"""Threadgroups along x; further ones go along y."""
GROUPS_Y = 1 << 8
"""The most threadgroups along y."""
MOST_ELEMENTS = THREADS * GROUPS_X * GROUPS_Y
"""Elements of a result are fewer: their numbers fit a 32-bit index."""
