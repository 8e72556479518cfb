VERSION = "0.1.0"
"""The version of Ingot: of its compiler, its bundles and its runtime. pyproject.toml reads it."""
