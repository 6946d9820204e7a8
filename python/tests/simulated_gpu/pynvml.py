"""As much of NVML as a race needs, on the simulated device."""

from __future__ import annotations

from device import SETTINGS, THROTTLED, device, setting

NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0


readings = 0


class NVMLError(Exception):
    pass


def read(name):
    global readings
    readings += 1
    if name in SETTINGS.get("unsupported", ()):
        raise NVMLError("Not Supported")
    if readings > setting("lost_readings", float("inf")):
        raise NVMLError("GPU is lost")


def nvmlInit():
    pass


def nvmlDeviceGetHandleByUUID(uuid):
    if not uuid.startswith("MIG-instance-" if setting("mig") else "GPU-simulated-"):
        raise NVMLError("Not Found")
    return uuid


def nvmlDeviceGetHandleByPciBusId(address):
    assert address
    return address


def nvmlDeviceGetClockInfo(handle, kind):
    read("nvmlDeviceGetClockInfo")
    return device.clock(device.host) if kind == NVML_CLOCK_SM else 2_619


def nvmlDeviceGetTemperature(handle, kind):
    read("nvmlDeviceGetTemperature")
    return 41


def nvmlDeviceGetCurrentClocksThrottleReasons(handle):
    read("nvmlDeviceGetCurrentClocksThrottleReasons")
    # Its clock is set by an application, which does not count.
    return 0x02 | (0x04 if device.clock(device.host) == THROTTLED else 0)
