"""Reverse-mode derivatives of L1, one module for each kind of op; `linalg-differentiate` drives.

formulas   a derivative rule as ops
scalars    the body of a structured op, backwards
drafts     a backward kernel over the loops of its forward op
turning    the same kernel over the elements that it makes, so that no two threads add to one
generics   `linalg.generic`: sums, products, extremes
moves      reshapes, slices, pads, concatenations
reorder    scans, sorts, scatters
control    loops and branches between kernels
reverse    a block of the host program, backwards
"""
