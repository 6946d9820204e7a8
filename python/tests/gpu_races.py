"""What the tests of races on a GPU share."""

from __future__ import annotations

from pathlib import Path

import pytest

import deadheat

SIMULATED = Path(__file__).parent / "simulated_gpu"
FEW = {"device": "cuda", "max_replicates": 1, "blocks": 2, "seed": 7}


def kernel(ns, name="", library="torch"):
    """A function that launches one kernel, which takes the given number of nanoseconds."""

    def function():
        import importlib

        module = importlib.import_module("numba.cuda" if library == "numba" else library)
        module.launch(ns, name)

    return function


def raced(old, new, **settings):
    return deadheat.race(old, new, **{"names": ("old", "new"), **FEW, **settings})


def failure(old, new, **settings):
    with pytest.raises(deadheat.RaceFailed) as failed:
        raced(old, new, **settings)
    return str(failed.value)


def metrics_of(result):
    return [name for name in result.samples[0] if name.endswith(("_ns", "_bytes"))]


def device_note(result):
    (note,) = [warning for warning in result.warnings if warning.startswith("GPU: ")]
    return note


def numbers(seed):
    import torch

    return torch.tensor([float(seed % 7), 2.0, 3.0])


def kernel_of_input(tensor):
    import torch

    torch.launch(2_000)


class Pipe:
    """The channel of a session that no program speaks to."""

    takes_turns = False

    def __init__(self):
        self.of_process = {}

    def note(self, contender):
        pass


def session(old, new, **options):
    """The session of a worker, in this process and without a program."""
    from deadheat._benchmarks import Benchmark
    from deadheat._gpu import library_in_use
    from deadheat._gpu_session import GpuSession

    benchmark = Benchmark("both", {"old": old, "new": new}, device="cuda", **options)
    made = GpuSession(Pipe(), {"both": benchmark}, library_in_use())
    made.answer("prepare", {"benchmark": "both", "contender": None})
    return made
