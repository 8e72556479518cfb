"""Passes for Ingot; pyproject.toml names them."""
