"""Scans, sorts and scatters, backwards."""
