"""Ingot and its peers side by side on one device: `python -m bench --help`.

`cases.py` makes the programs, `suites.py` names the lists of them, `peers/` prepares them with each
compiler, `measure.py` lets the peers take turns and checks their values, `report.py` writes the
table and `plot.py` the picture. `compile.py`, a program of its own, measures compiling.
"""
