"""Making a failing program small: what may be taken from a module, and the search over it."""
