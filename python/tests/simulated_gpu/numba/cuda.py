"""As much of numba.cuda as a race needs, on the simulated device."""

from __future__ import annotations

from types import SimpleNamespace

from device import device, setting

gpus = [None] * int(setting("devices", 1))


def is_available():
    return bool(gpus)


def select_device(index):
    pass


def get_current_device():
    return SimpleNamespace(name=b"Simulated GPU", uuid="GPU-simulated-0", L2_CACHE_SIZE=1 << 20)


def device_array(count, dtype):
    return 8 * count


def synchronize():
    device.synchronize()


class Kernel:
    def __init__(self, function):
        self.function = function

    def __getitem__(self, shape):
        return self.launched

    def launched(self, argument):
        if self.function.__name__ == "spin":
            device.spin(argument)
        else:
            device.launch(argument / 2_000)


def jit(function):
    return Kernel(function)


class Event:
    def __init__(self):
        self.at = None

    def record(self):
        self.at = device.event()

    def synchronize(self):
        device.wait_until(self.at)

    def query(self):
        return device.host >= self.at


def event(timing):
    return Event()


def event_elapsed_time(begun, ended):
    return device.between(begun.at, ended.at)


def current_context():
    return SimpleNamespace(get_memory_info=lambda: SimpleNamespace(free=10**9, total=10**9))


def launch(ns, name=""):
    """Launches a kernel that takes so many nanoseconds; only here."""
    device.launch(ns, name)
