"""The version of Ingot, which pyproject.toml reads from here."""

VERSION = "0.1.0"
