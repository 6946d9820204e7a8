"""A function for pytest-benchmark, as one would write it: variables say which, of which module."""

import os
from importlib import import_module

module = import_module(os.environ["SUBJECT_MODULE"])
name = os.environ["SUBJECT"]


def test_subject(benchmark):
    benchmark(getattr(module, name), module.INPUTS[name](int(os.environ["SUBJECT_SEED"])))
