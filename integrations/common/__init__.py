"""What the helpers for Python frameworks share; `ingot.jax` and `ingot.torch` are the helpers."""
