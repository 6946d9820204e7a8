"""torch.cuda on the simulated device."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

from device import CALL_NS, device, setting


class OutOfMemoryError(RuntimeError):
    pass


class AcceleratorError(RuntimeError):
    pass


chosen = 0


def device_count():
    return int(setting("devices", 1))


def set_device(index):
    global chosen
    chosen = index


def get_device_name():
    return f"Simulated GPU {chosen}"


def get_device_properties(index):
    return SimpleNamespace(uuid=f"simulated-{index}", L2_cache_size=1 << 20)


def synchronize():
    device.wait_until(device.free_at)


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


class Stream:
    def wait_stream(self, other):
        pass

    def synchronize(self):
        device.wait_until(device.free_at)


def current_stream():
    return Stream()


@contextmanager
def stream(_):
    yield


class CUDAGraph:
    def capture_begin(self):
        device.capture = []

    def capture_end(self):
        self.kernels, device.capture = device.capture, None

    def replay(self):
        device.replay(self.kernels)
