"""Fuzzing of what reads bundles: the C library and the Python runtime."""
