"""As much of CuPy as a race needs, on the simulated device."""

from __future__ import annotations

from types import SimpleNamespace

from device import device, setting

__version__ = "0.simulated"


class Event:
    def __init__(self):
        self.at = None

    def record(self):
        self.at = device.event()

    def synchronize(self):
        device.wait_until(self.at)

    @property
    def done(self):
        return device.host >= self.at


class Device:
    def __init__(self, index=0):
        self.id, self.pci_bus_id = index, f"0000:0{index}:00.0"

    def use(self):
        pass


class RawKernel:
    def __init__(self, text, name):
        assert name in text

    def __call__(self, grid, block, arguments):
        device.spin(arguments[0] / 2)


class Buffer:
    def __init__(self, count):
        self.count = count

    def fill(self, _):
        device.launch(self.count / 2_000)


def empty(count, dtype=None):
    return Buffer(count)


def get_default_memory_pool():
    return SimpleNamespace(free_bytes=lambda: 0, used_bytes=lambda: 0)


runtime = SimpleNamespace(
    getDeviceCount=lambda: int(setting("devices", 1)),
    getDeviceProperties=lambda index: {"name": b"Simulated GPU", "l2CacheSize": 1 << 20},
    deviceSynchronize=device.synchronize,
    memGetInfo=lambda: (10**9, 10**9),
)
cuda = SimpleNamespace(
    Event=Event,
    Device=Device,
    runtime=runtime,
    get_elapsed_time=lambda begun, ended: device.between(begun.at, ended.at),
)


def launch(ns, name=""):
    """Launches a kernel that takes so many nanoseconds; only here."""
    device.launch(ns, name)
