"""Writes the reference values that the test `golden` compares the crate with.

    pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 && python crates/deadheat-stats/tests/golden/make_golden.py

Run from the root of the repository, with Python 3.11 or later. The output is the same on every run. The names of
files given as arguments (`families.json …`) restrict it to those.
"""

import sys

import distributions
import drawings
import families
import fits
import locations
import ranks
import shapes
import t_tests
from recipe import write

FILES = {
    "distributions.json": distributions.tables,
    "locations.json": locations.by_hand,
    "pooled.json": locations.by_recipe,
    "families.json": families.families,
    "t_tests.json": t_tests.t_tests,
    "shapes.json": shapes.shapes,
    "fits.json": fits.fits,
    "drawings.json": drawings.drawings,
    "ranks.json": ranks.by_recipe,
    "exact_ranks.json": ranks.exactly,
    "compare_py.json": ranks.as_compare_py_does,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or FILES:
        write(name, FILES[name]())
