"""`ingot inspect --html`: a bundle, and where it is known how it came to be, as one page."""
