"""Functions of a GPU that are refused, because their times or outputs would mean nothing."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from gpu_races import failure, kernel, kernel_of_input, numbers, raced, session

pytestmark = pytest.mark.usefixtures("device")


# Work that is not timed.


def numbers_on_the_host(seed):
    import torch

    return torch.tensor([1.0, 2.0, 3.0], device="cpu")


def in_place(tensor):
    tensor.add_(1)


def test_functions_whose_input_is_on_the_host_are_refused():
    said = failure(in_place, in_place, input=numbers_on_the_host, input_per_call=False)
    assert "'old' launches nothing on cuda:0: put its input on cuda:0" in said


def test_a_candidate_that_launches_nothing_is_refused():
    def nothing(tensor):
        return None

    assert "'new' launches nothing on cuda:0" in failure(kernel_of_input, nothing, input=numbers)


def test_a_slow_function_of_the_host_is_refused():
    def slow():
        import time

        time.sleep(0.06)

    assert "'new' launches nothing on cuda:0" in failure(kernel(1_000), slow)


def test_an_input_on_another_device_is_refused(device):
    device(devices=2)

    def on_first(seed):
        import torch

        return {"values": torch.tensor([1.0], device="cuda:0")}

    said = failure(kernel_of_input, kernel_of_input, input=on_first, device="cuda:1")
    assert "gets an input on cuda:0, but the race times cuda:1" in said


def test_work_on_another_device_is_refused(device):
    device(devices=2)

    def on_first():
        import torch

        torch.device.launch(2_000, index=0)

    assert "'new' launches nothing on cuda:1" in failure(kernel(2_000), on_first, device="cuda:1")


def on_another_stream(ns, joins):
    def function():
        import torch

        torch.launch(1_000)
        other = torch.cuda.Stream()
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            torch.launch(ns)
        if joins:
            torch.cuda.current_stream().wait_stream(other)

    return function


def test_work_on_another_stream_is_timed_if_the_current_stream_waits_for_it():
    result = raced(kernel(2_000_000), on_another_stream(4_000_000, True))
    assert result.change == pytest.approx(1.0, abs=0.05)


def test_work_that_is_left_on_another_stream_is_refused():
    said = failure(kernel(2_000), on_another_stream(400_000, False))
    assert "'new' leaves work on another stream" in said


def on_one_other_stream(ns):
    streams = []

    def function():
        import torch

        torch.launch(1_000)
        if not streams:
            streams.append(torch.cuda.Stream())
        with torch.cuda.stream(streams[0]):
            torch.launch(ns)

    return function


def test_short_work_that_adds_up_on_another_stream_is_refused():
    # A single call is done after 20 µs, within what a synchronization may take.
    said = failure(kernel(2_000), on_one_other_stream(20_000))
    assert "'new' leaves work on another stream" in said


# A device that waits for the host.


def kernels(count):
    def function():
        import torch

        for _ in range(count):
            torch.launch(500)

    return function


def test_functions_that_launch_more_than_can_be_queued_are_told(device):
    device(queue=100)
    # A sample has at least twelve calls.
    said = " ".join(raced(kernels(20), kernels(20), cache="warm").warnings)
    assert "'old' waits for the device within a call, or launches more than can be queued" in said


def test_samples_in_which_the_device_waited_are_counted_in_a_note():
    def pauses():
        import torch

        torch.device.host += 5e6 if is_slow else 0
        torch.launch(2_000)

    is_slow = []
    made = session(kernel(2_000), pauses)
    made.answer("warm_up", {"seed": 1, "order": [0, 1], "iterations": 20})
    contender = made._own_contenders[1]
    contender.batches = contender.idle_batches = 0
    contender.gpu_ns(None, 20)
    is_slow.append(True)
    contender.gpu_ns(None, 20)
    said = " ".join(made.notes_on_device(made._benchmark))
    assert "In 1 of 2 samples of the calibration run, the GPU waited for the host" in said
    assert "to launch 'new'" in said


# Functions that are compiled.


def lengthens(seed):
    return SimpleNamespace(shape=(1 + seed % 97,))


def compiled(ns):
    made = []

    def function(tensor):
        import torch

        if not made:
            made.append(torch.compile(launches(ns)))
        return made[0](tensor)

    return function


def launches(ns):
    def launch(tensor):
        import torch

        torch.launch(ns)

    return launch


@pytest.mark.parametrize("ns", [3_000, 600_000])
def test_a_compilation_for_the_input_of_a_later_block_fails_the_race(ns):
    said = failure(launches(ns), compiled(ns), input=lengthens)
    assert "'new' was compiled again by torch.compile within a sample" in said
    assert "(tensor 'given' size mismatch at index 0" in said


def test_a_function_that_torch_compile_gives_up_is_refused():
    def changes_its_shape():
        import torch

        if not made:
            made.append(torch.compile(launches(600_000)))
        calls[0] += 1
        made[0](torch.tensor([0.0] * calls[0]))

    made, calls = [], [0]
    said = failure(kernel(600_000), changes_its_shape)
    assert "'new' runs uncompiled, because torch.compile has given it up" in said
    assert "torch._dynamo hit config.recompile_limit (8) function: 'launch' last reason: " in said


# Outputs that are equal even if the functions compute different values.


def test_outputs_in_the_same_memory_are_not_compared():
    def writes(both):
        import torch

        torch.launch(2_000)
        return both[1]

    def pair(seed):
        import torch

        return torch.tensor([1.0]), torch.tensor([0.0])

    said = failure(writes, lambda both: writes(both), input=pair, check_outputs=True)
    assert "'new' returns the memory that 'old' returns" in said


def test_outputs_that_are_none_are_not_compared():
    said = failure(kernel(2_000), kernel(2_000), check_outputs=True)
    assert "'new' returns None, as 'old' does, so check_outputs=True compares nothing" in said


# Inputs.


def test_an_input_whose_gradient_accumulates_is_made_for_every_call():
    def accumulates(tensor):
        tensor.backward()

    said = " ".join(raced(kernel_of_input, accumulates, input=numbers).warnings)
    assert "'new' changes its input (Tensor), so every call gets" in said
