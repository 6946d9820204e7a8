"""Races on a GPU, on the simulated device of `simulated_gpu/`."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

import pytest
from gpu_races import (
    SIMULATED,
    device_note,
    failure,
    kernel,
    kernel_of_input,
    metrics_of,
    numbers,
    raced,
    session,
)

import deadheat

JUDGED = {"max_replicates": 6, "blocks": 4}
# What differs from process to process and within one, as it does on a device.
NOISY = {"process": 0.01, "side": 0.001, "drift": 0.001, "noise": 0.003}


pytestmark = pytest.mark.usefixtures("device")


# What is measured.


@pytest.mark.parametrize("ns", [2_000, 30_000, 1_000_000, 20_000_000])
def test_gaps_between_launches_do_not_count(ns):
    result = raced(kernel(ns), kernel(1.1 * ns), **JUDGED)
    # A launch takes the host 6 µs, three times as long as the shortest kernel.
    assert result.baseline.typical == pytest.approx(ns, abs=1_500)
    assert result.verdict == "slower"
    assert result.change == pytest.approx(0.1, abs=0.05)


def test_gpu_time_is_judged_with_a_device_and_wall_time_is_recorded():
    result = raced(kernel(5_000), kernel(5_000))
    assert result.json["benchmarks"][0]["metric"] == "gpu"
    assert metrics_of(result) == ["wall_ns", "gpu_ns", "peak_gpu_memory_bytes"]
    assert all(row["wall_ns"] > 0 for row in result.samples)
    assert len(result.effects()) == 1
    assert "GPU time" in str(result)


def test_another_metric_is_judged_if_the_user_names_it():
    for metric in ("wall", "gpu"):
        result = raced(kernel(5_000), kernel(9_000), metric=metric)
        assert result.json["benchmarks"][0]["metric"] == metric


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_the_peak_of_memory_is_that_of_one_call(cache):
    def allocates(count):
        def function():
            import torch

            torch.launch(2_000)
            return torch.tensor([0.0] * count)

        return function

    rows = raced(allocates(100), allocates(1_000), cache=cache).samples
    assert {row["contender"]: row["peak_gpu_memory_bytes"] for row in rows} == {
        "old": 800,
        "new": 8_000,
    }


def test_a_cold_cache_is_emptied_before_every_call_outside_of_the_time():
    result = raced(kernel(4_000), kernel(4_000), cache="cold")
    assert result.baseline.typical == pytest.approx(4_000, abs=1_600)
    assert "L2 cache emptied" in device_note(result)
    assert max(row["iterations"] for row in result.samples) <= 50


@pytest.mark.parametrize("library", ["cupy", "numba"])
def test_other_libraries_time_their_kernels(library, tmp_path, monkeypatch):
    # As if torch were not installed.
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(SIMULATED)])
    for name in ("device.py", "pynvml.py", f"{library}.py" if library == "cupy" else library):
        (tmp_path / name).symlink_to(SIMULATED / name)
    imported = "numba.cuda" if library == "numba" else library
    (tmp_path / f"kernels_of_{library}.py").write_text(KERNELS.format(library=imported))
    monkeypatch.syspath_prepend(str(tmp_path))
    module = f"kernels_of_{library}"
    result = raced(f"{module}:old", f"{module}:new", **JUDGED)
    assert result.change == pytest.approx(0.05, abs=0.03)
    assert f"({library} 0.simulated)" in device_note(result)
    assert metrics_of(result) == ["wall_ns", "gpu_ns"]


KERNELS = """
import {library} as library

def old():
    library.launch(40_000)

def new():
    library.launch(42_000)
"""


# Inputs and outputs.


def test_a_function_that_changes_its_input_gets_one_for_every_call():
    def in_place(tensor):
        return tensor.add_(1)

    def other(tensor):
        import torch

        torch.launch(2_000)

    result = raced(in_place, other, input=numbers)
    assert "'old' changes its input (Tensor), so every call gets" in " ".join(result.warnings)


def test_inputs_of_every_call_fit_into_the_memory_of_the_device(device):
    device(memory=200_000_000)

    def large(seed):
        import torch

        return torch.tensor([0.0] * 1_000_000)

    def in_place(tensor):
        return tensor.add_(1)

    def other(tensor):
        import torch

        torch.launch(2_000)

    rows = raced(in_place, other, input=large, input_per_call=True).samples
    # A quarter of what is free has room for six of 8 MB.
    assert 2 <= max(row["iterations"] for row in rows) <= 6


def test_outputs_are_compared_within_tolerances():
    def output(last):
        def function(tensor):
            import torch

            torch.launch(2_000)
            return {"sum": torch.tensor([1.0, last])}

        return function

    pair = output(2.0), output(2.000_1)
    said = failure(*pair, input=numbers, check_outputs=True)
    assert "at ['sum'][1] 'new' returned 2.0001, 'old' 2.0" in said
    assert raced(*pair, input=numbers, check_outputs=True, rtol=1e-3).replicates == 1
    said = failure(*pair, input=numbers, check_outputs=True, atol=1e-5)
    assert "returns a different output" in said


# Failures.


def test_a_missing_device_fails_the_race_in_one_line_with_the_way_out(device):
    device(devices=0)
    said = failure(kernel(1), kernel(1))
    assert "finds no CUDA device: torch sees none" in said
    assert said.endswith("set device='cpu'")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("devices", "wanted", "words"),
    [
        (1, "cuda:1", "finds no cuda:1: torch sees cuda:0"),
        (2, "cuda:2", "finds no cuda:2: torch sees cuda:0 to cuda:1"),
    ],
)
def test_a_device_beyond_the_last_one_is_named(device, devices, wanted, words):
    device(devices=devices)
    assert words in failure(kernel(1), kernel(1), device=wanted)


def test_a_device_is_chosen_by_its_number(device):
    device(devices=2)
    result = raced(kernel(5_000), kernel(5_000), device="cuda:1")
    assert device_note(result).startswith("GPU: Simulated GPU 1 (torch")


def test_without_a_library_the_race_names_those_it_knows(monkeypatch):
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(SIMULATED)])
    for library in ("torch", "cupy", "numba"):
        if spec_of(library) is not None:
            pytest.skip(f"{library} is installed")
    assert "torch, cupy or numba is needed" in failure(empty, empty_too)


def spec_of(name):
    from importlib.util import find_spec

    return find_spec(name)


def empty():
    pass


def empty_too():
    pass


def test_running_out_of_memory_is_told_with_the_function_and_the_seed(device):
    device(memory=100_000_000)

    def takes_all(tensor):
        import torch

        return torch.tensor([0.0] * 20_000_000)

    said = failure(kernel_of_input, takes_all, input=numbers)
    assert "'new' ran out of GPU memory (input of seed " in said
    assert "Tried to allocate 160000000 bytes" in said
    assert said.endswith("Give it a smaller input")


@pytest.mark.parametrize("error", ["AcceleratorError", "RuntimeError"])
def test_a_lost_device_is_told_with_the_first_line_of_the_reason(error):
    def fails():
        import torch
        from device import device

        kind = getattr(torch.cuda, error, RuntimeError)
        device.error = kind("CUDA error: an illegal memory access\nadvice on debugging")

    said = failure(kernel(1), fails)
    assert "'new' lost the GPU: CUDA error: an illegal memory access; CUDA_LAUNCH" in said
    assert "advice on debugging" not in said


def test_another_error_of_a_function_is_raised_as_ever():
    def fails():
        raise RuntimeError("size mismatch, m1: [2, 3], m2: [4, 5]")

    assert "'new' raised RuntimeError: size mismatch" in failure(kernel(1), fails)


def test_a_compilation_within_a_sample_fails_the_race():
    calls = [0]

    def recompiles():
        import torch
        from torch._dynamo.utils import counters

        calls[0] += 1
        if calls[0] > 600:
            counters["stats"]["unique_graphs"] += 1
        torch.launch(600_000)

    said = failure(kernel(600_000), recompiles, max_replicates=20, blocks=50)
    assert "'new' was compiled again by torch.compile within a sample" in said


def test_compilations_before_the_samples_are_fine():
    calls = [0]

    def compiled():
        import torch
        from torch._dynamo.utils import counters

        calls[0] += 1
        if calls[0] == 1:
            counters["stats"]["unique_graphs"] += 1
        torch.launch(600_000)

    assert raced(kernel(600_000), compiled, **JUDGED).verdict == "equivalent"


def test_settings_that_make_no_sense_are_refused():
    for settings, words in [
        ({"device": "mps"}, "device must be"),
        ({"device": "cuda:x"}, "device must be"),
        ({"device": "cuda:-1"}, "device must be"),
        ({"cache": "hot"}, "cache must be"),
        ({"cache": "cold", "device": "cpu"}, "cache='cold' needs device='cuda'"),
        ({"callgrind": True}, "callgrind counts instructions of the CPU"),
    ]:
        with pytest.raises(deadheat.UsageError, match=words):
            raced(kernel(1), kernel(1), **settings)


def test_the_cpu_is_raced_by_wall_time():
    result = raced(empty, empty_too, device="cpu")
    assert result.json["benchmarks"][0]["metric"] == "wall"
    assert "gpu_ns" not in result.samples[0]


# Clocks.


def test_samples_of_a_throttled_device_are_flagged_and_left_out(device):
    # Some 3 s of the device, so that the 14 episodes to be expected are never none.
    device(throttled=5)
    result = raced(kernel(2_000_000), kernel(2_000_000), max_replicates=6, blocks=60)
    flagged = [row for row in result.samples if row["flags"] == "gpu-clock"]
    assert flagged
    assert len(flagged) < len(result.samples) / 5
    told = [w for w in result.warnings if "throttled, or its clock stepped" in w]
    assert f"in {len(flagged)} of {len(result.samples)} samples" in told[0]
    assert "leaves out" in told[0]
    slow = statistics.median(row["gpu_ns"] for row in flagged)
    assert slow > 1.2 * statistics.median(row["gpu_ns"] for row in result.samples)


def test_a_step_of_the_clock_within_a_sample_is_flagged(device):
    device(steps=20)
    result = raced(kernel(5_000_000), kernel(5_000_000), blocks=20)
    assert any(row["flags"] == "gpu-clock" for row in result.samples)


def test_a_steady_device_has_no_flags(device):
    device(**NOISY)
    result = raced(kernel(400_000), kernel(400_000), blocks=20)
    assert not any(row["flags"] for row in result.samples)
    assert not any("throttled" in warning for warning in result.warnings)


def test_without_nvml_the_answer_says_that_throttling_goes_unseen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(SIMULATED)])
    for name in ("device.py", "torch"):
        (tmp_path / name).symlink_to(SIMULATED / name)
    monkeypatch.syspath_prepend(str(tmp_path))
    if spec_of("pynvml") is not None:
        pytest.skip("nvidia-ml-py is installed")
    said = " ".join(raced(kernel(5_000), kernel(5_000)).warnings)
    assert "cannot see throttling and clock changes: nvidia-ml-py is not installed" in said


def test_a_step_of_the_clock_between_two_turns_is_flagged():
    made = session(kernel(400_000), kernel(400_000))
    made.answer("warm_up", {"seed": 1, "order": [0, 1], "iterations": 1})
    import torch

    def read():
        # After the first sample of the block, before the second.
        if len(made._unsteady) == 1:
            torch.device.is_stepped = True
        return read_clocks()

    read_clocks, made._clocks.read = made._clocks.read, read
    turns = {"turns": [0, 1, 1, 0], "unrecorded": 0, "unrecorded_iterations": 1}
    _, said = made.answer("block", {"seed": 1, "iterations": 1, **turns})
    assert said["gpu_clock"] == [False, True, False, False]


def test_readings_that_a_device_lacks_are_named_and_the_others_are_used(device):
    device(steps=20, unsupported=["nvmlDeviceGetCurrentClocksThrottleReasons"])
    result = raced(kernel(5_000_000), kernel(5_000_000), blocks=20)
    assert any(row["flags"] == "gpu-clock" for row in result.samples)
    assert "NVML does not report throttle reasons of this GPU" in " ".join(result.warnings)
    assert "SM at" in device_note(result)


def test_readings_that_fail_during_the_race_are_not_errors_of_a_function(device):
    device(lost_readings=80)
    assert raced(kernel(400_000), kernel(400_000), blocks=20).replicates == 1


def test_an_instance_of_mig_is_found_by_its_own_address(device):
    device(mig=1)
    assert "SM at 1980 MHz" in device_note(raced(kernel(5_000), kernel(5_000)))


def test_an_unknown_device_does_not_advise_to_install_a_package():
    from deadheat._gpu_clocks import Clocks

    assert Clocks("GPU-of-another-machine").problem == "Not Found"


# Promises.


SUITE = """
import deadheat, torch

def pair(number, more):
    def old():
        torch.launch(20_000, f"old {{number}}")

    def new():
        torch.launch(20_000 * (1 + more), f"new {{number}}")

    deadheat.benchmark(name=str(number), candidates={{"new": new}}, device="cuda")(old)

for number in range({count}):
    pair(number, {more})
deadheat.suite()
"""


def verdicts(tmp_path, count, more, sides=1):
    """The verdicts on so many races of a file, whose process starts once a replicate."""
    import os
    import subprocess

    from deadheat._program import find_program

    file = tmp_path / "bench_gpu.py"
    file.write_text(SUITE.format(count=count, more=more))
    commands = [f"{sys.executable} {file}"] * sides
    path = os.pathsep.join([str(SIMULATED), str(Path(deadheat.__file__).parents[1])])
    said = subprocess.run(
        [find_program(), "bench", *commands, "--json", "--quiet", "--seed=3"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    answer = json.loads(said.stdout)
    assert "failures" not in answer, said.stdout
    return [told["verdict"] for told in answer["benchmarks"]]


def test_copies_are_hardly_ever_told_apart_on_a_drifting_device(tmp_path, device):
    device(**NOISY, steps=0.2, throttled=0.5)
    found = verdicts(tmp_path, 20, 0.0)
    # At α = 5 %, more than four of twenty have a chance of 0.3 %.
    assert sum(verdict in ("faster", "slower") for verdict in found) <= 4, found


def test_more_work_is_found_on_a_drifting_device(tmp_path, device):
    device(**NOISY, steps=0.2, throttled=0.5)
    found = verdicts(tmp_path, 10, 0.02)
    assert found.count("slower") >= 8, found
    assert "faster" not in found


def test_two_builds_take_turns_on_a_device(tmp_path, device):
    device(**NOISY, throttled=2)
    # Each function races its namesake of the other build.
    found = verdicts(tmp_path, 1, 0.0, sides=2)
    assert len(found) == 2
    assert None not in found


def test_the_answer_has_a_page_and_a_plot_of_gpu_time(tmp_path):
    result = raced(kernel(30_000), kernel(33_000), **JUDGED)
    result.page(tmp_path / "page.html")
    assert "GPU time" in (tmp_path / "page.html").read_text()
    assert result._repr_html_().count("<circle") == 7
    assert all(0.05 < effect < 0.15 for effect in result.effects())


def test_a_control_and_a_quantile_are_raced_on_a_device():
    result = raced(kernel(30_000), kernel(36_000), control=True, **JUDGED)
    assert result.verdict == "slower"
    rows = raced(kernel(30_000), kernel(36_000), quantile=0.9, blocks=25).samples
    assert {row["iterations"] for row in rows} == {1}


def test_a_file_has_benchmarks_of_a_gpu_or_of_the_cpu(monkeypatch):
    from deadheat import _benchmarks

    monkeypatch.setattr(_benchmarks, "benchmarks", {})
    deadheat.benchmark(device="cuda")(empty)
    with pytest.raises(deadheat.UsageError, match="run on a GPU or none"):
        deadheat.benchmark(empty_too)
