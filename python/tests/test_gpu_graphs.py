"""CUDA graphs: when calls are replayed from them, and what a capture that fails may not spoil."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_races import SIMULATED, device_note, kernel, kernel_of_input, raced, session

import deadheat

pytestmark = pytest.mark.usefixtures("device")
REPLAYED = "samples of a multiple of 32 calls are replayed from CUDA graphs"


def waits():
    import torch

    torch.launch(2_000)
    return torch.tensor([1.0]).item()


def drawn(seed):
    import torch

    torch.manual_seed(seed)
    return torch.randn(4, device="cuda")


def item_of_input(tensor):
    import torch

    torch.launch(2_000)
    return tensor[0].item()


def test_short_calls_are_replayed_from_graphs_and_long_ones_are_not():
    result = raced(kernel(3_000), kernel(3_000))
    assert REPLAYED in device_note(result)
    assert all(row["iterations"] % 32 == 0 for row in result.samples)
    assert "graphs" not in device_note(raced(kernel(80_000), kernel(80_000)))


def test_a_function_that_cannot_be_captured_keeps_graphs_from_both():
    result = raced(kernel(3_000), waits)
    said = " ".join(result.warnings)
    assert "No CUDA graphs: 'new' cannot be captured" in said
    assert "'new' waits for the device within a call" in said
    assert "'old' waits" not in said
    assert all(row["iterations"] % 32 for row in result.samples)


def test_a_capture_that_fails_leaves_the_random_generator_of_the_race_usable():
    result = raced(kernel_of_input, item_of_input, input=drawn)
    assert result.replicates == 1
    # The first error is the reason, not the one that ends the capture.
    assert "operation not permitted when stream is capturing" in " ".join(result.warnings)


class UsesGpuOnArrival:
    """A function whose arrival in the worker uses the GPU, as that of a tensor does. A thread keeps
    the worker from forking, because the simulated device has no driver."""

    def __init__(self, waits):
        self.waits = waits

    def __call__(self):
        import torch

        torch.launch(3_000)
        if self.waits:
            torch.tensor([1.0]).item()

    def __getstate__(self):
        return {"waits": self.waits}

    def __setstate__(self, state):
        import threading
        import time

        import torch

        self.__dict__ |= state
        torch.launch(1_000)
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def test_a_worker_that_cannot_fork_tries_to_capture_in_a_new_process():
    assert REPLAYED in device_note(raced(kernel(3_000), UsesGpuOnArrival(False)))
    said = " ".join(raced(kernel(3_000), UsesGpuOnArrival(True)).warnings)
    assert "No CUDA graphs: 'new' cannot be captured (CUDA error: operation not permitted" in said


def test_a_function_that_crashes_when_it_is_captured_is_raced_without_graphs():
    def crashes():
        import os

        import torch

        if torch.device.capture is not None:
            os._exit(1)
        torch.launch(3_000)

    said = " ".join(raced(kernel(3_000), crashes).warnings)
    assert "No CUDA graphs: the process that tries to capture the functions crashed" in said


def test_quantiles_do_not_claim_graphs_for_single_calls():
    result = raced(kernel(3_000), kernel(3_000), quantile=0.9, blocks=25)
    assert {row["iterations"] for row in result.samples} == {1}
    assert "; calls are replayed" not in device_note(result)


FILE = """
import deadheat, torch

def old():
    torch.launch(3_000)
    {more}

deadheat.benchmark(device="cuda")(old)
deadheat.suite()
"""


def test_graphs_are_kept_from_both_builds_if_one_cannot_be_captured(tmp_path):
    from deadheat._program import find_program

    commands = []
    for name, more in (("one", ""), ("other", "torch.tensor([1.0]).item()")):
        file = tmp_path / name / "bench_gpu.py"
        file.parent.mkdir()
        file.write_text(FILE.format(more=more))
        commands.append(f"{sys.executable} {file}")
    path = os.pathsep.join([str(SIMULATED), str(Path(deadheat.__file__).parents[1])])
    options = ["--json", "--quiet", "--seed=3", "--blocks=2", "--max-replicates=1"]
    said = subprocess.run(
        [find_program(), "bench", *commands, *options, "--export-csv", tmp_path / "samples.csv"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    (answer,) = json.loads(said.stdout)["benchmarks"]
    assert any("cannot be captured" in warning["message"] for warning in answer["warnings"])
    head, *rows = (tmp_path / "samples.csv").read_text().splitlines()
    calls = {int(row.split(",")[head.split(",").index("iterations")]) for row in rows}
    assert len(calls) == 1
    assert calls.pop() % 32 != 0


def launches(has_input):
    return kernel_of_input if has_input else kernel(2_000)


def block(seed):
    return {"seed": seed, "iterations": 64, "turns": [0, 0, 1, 1, 0], "unrecorded": 1,
            "unrecorded_iterations": 64}  # fmt: skip


@pytest.mark.parametrize(("options", "captures"), [({}, 2), ({"input": int}, 6)])
def test_graphs_are_captured_for_each_input_and_before_the_turns(options, captures, monkeypatch):
    made = session(launches(bool(options)), launches(bool(options)), **options)
    import torch

    happened = []
    for name, word in (("capture_begin", "captured"), ("replay", "replayed")):
        method = getattr(torch.cuda.CUDAGraph, name)

        def noted(graph, method=method, word=word):
            happened.append(word)
            method(graph)

        monkeypatch.setattr(torch.cuda.CUDAGraph, name, noted)
    made.answer("warm_up", {"seed": 1, "order": [0, 1], "iterations": 64})
    for seed in (1, 2, 3):
        before = len(happened)
        kind, said = made.answer("block", block(seed))
        assert kind == "block", said
        own = happened[before:]
        # Five samples replay two graphs each.
        assert own[-10:] == ["replayed"] * 10
    assert happened.count("captured") == captures
