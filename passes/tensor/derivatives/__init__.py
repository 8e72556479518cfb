"""Reverse-mode derivatives of L1, one module for each kind of op; `linalg-differentiate` drives.

formulas   a derivative rule as ops
scalars    the body of a structured op, backwards
drafts     a backward kernel over the loops of its forward op
hoisting   what it would compute over and over, as small tensors
kernels    drafts as generics: the order of their loops, sums
turning    the same over the elements that it makes, so that no two threads add to one
windows    that of a convolution's image, as a convolution
gathers    reads at computed places
indices    which of these are linear in the loops
generics   `linalg.generic`: sums, products, extremes
products   the product of the other factors
moves      reshapes, slices, pads, concatenations
reorder    scans, sorts, scatters
control    loops and branches between kernels
activity   which values depend on what is differentiated
reverse    a block of the host program, backwards
"""
