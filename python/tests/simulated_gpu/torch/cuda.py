"""torch.cuda on the simulated device."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import device as simulated
from device import CALL_NS, device, setting


class OutOfMemoryError(RuntimeError):
    pass


class AcceleratorError(RuntimeError):
    pass


def device_count():
    return int(setting("devices", 1))


def set_device(index):
    device.chosen = index


def get_device_name():
    return f"Simulated GPU {device.chosen}"


def get_device_properties(index):
    uuid = f"instance-{index}" if setting("mig") else f"simulated-{index}"
    return SimpleNamespace(uuid=uuid, L2_cache_size=1 << 20)


def synchronize():
    device.synchronize()


def _sleep(cycles):
    device.spin(cycles / 2)


def mem_get_info():
    return int(setting("memory", 1e9)) - device.allocated, int(setting("memory", 1e9))


def reset_peak_memory_stats():
    device.peak = device.allocated


def memory_allocated():
    return device.allocated


def memory_reserved():
    return device.allocated


def max_memory_allocated():
    return device.peak


class Event:
    def __init__(self, enable_timing=False):
        assert enable_timing
        self.at = None

    def record(self):
        self.at = device.event()

    def query(self):
        device.host += CALL_NS
        return device.host >= self.at

    def synchronize(self):
        device.wait_until(self.at)

    def elapsed_time(self, other):
        return device.between(self.at, other.at)


class Stream(simulated.Stream):
    def __init__(self):
        super().__init__()
        device.streams.append(self)

    def wait_stream(self, other):
        self.free_at = max(self.free_at, other.free_at)

    def synchronize(self):
        device.wait_until(self.free_at)


class Current:
    """The current stream, whichever it is."""

    def wait_stream(self, other):
        device.free_at = max(device.free_at, other.free_at)

    @property
    def free_at(self):
        return device.free_at


def current_stream():
    return Current()


@contextmanager
def stream(chosen):
    before, device.stream = device.stream, chosen
    yield
    device.stream = before


class CUDAGraph:
    def capture_begin(self):
        device.begin_capture()

    def capture_end(self):
        self.kernels = device.end_capture()

    def replay(self):
        device.replay(self.kernels)
