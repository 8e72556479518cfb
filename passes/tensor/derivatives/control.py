"""Loops and branches between kernels, backwards."""
