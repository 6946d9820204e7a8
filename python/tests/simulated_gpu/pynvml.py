"""As much of NVML as a race needs, on the simulated device."""

from __future__ import annotations

from device import THROTTLED, device

NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0


def nvmlInit():
    pass


def nvmlDeviceGetHandleByUUID(uuid):
    assert uuid.startswith("GPU-simulated-")
    return uuid


def nvmlDeviceGetHandleByPciBusId(address):
    assert address
    return address


def nvmlDeviceGetClockInfo(handle, kind):
    return device.clock(device.host) if kind == NVML_CLOCK_SM else 2_619


def nvmlDeviceGetTemperature(handle, kind):
    return 41


def nvmlDeviceGetCurrentClocksThrottleReasons(handle):
    # Its clock is set by an application, which does not count.
    return 0x02 | (0x04 if device.clock(device.host) == THROTTLED else 0)
