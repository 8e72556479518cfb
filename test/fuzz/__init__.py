"""The differential fuzzer: random linalg programs on every device against the reference."""
