"""The clocks of a GPU around a sample, by NVML (the package `nvidia-ml-py`)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Bits of `nvmlDeviceGetCurrentClocksThrottleReasons`, by NVML's documentation.
REASONS = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "heat",
    0x40: "heat (hardware)",
    0x80: "power brake",
}
THROTTLED = sum(REASONS)
# A clock that differs by more between the ends of a sample has stepped: boost clocks move by 15 MHz
# of 1,980 all the time.
STEP = 0.02


class State:
    """Clocks in MHz, the temperature in °C, and the bits of the reasons for throttling."""

    def __init__(self, sm: int, memory: int, temperature: int, reasons: int) -> None:
        self.sm = sm
        self.memory = memory
        self.temperature = temperature
        self.reasons = reasons

    def __str__(self) -> str:
        said = (
            f"SM at {self.sm} MHz, memory at {self.memory} MHz, {self.temperature} degrees Celsius"
        )
        named = [name for bit, name in REASONS.items() if self.reasons & bit]
        return f"{said}, throttled ({', '.join(named)})" if named else said


class Clocks:
    """Reads the state of one device; `problem` says why it cannot."""

    def __init__(self, address: str) -> None:
        self.problem = ""
        self._nvml: Any = None
        try:
            import pynvml
        except ImportError:
            self.problem = "nvidia-ml-py is not installed"
            return
        try:
            pynvml.nvmlInit()
            by_uuid = address.startswith("GPU-")
            find = pynvml.nvmlDeviceGetHandleByUUID if by_uuid else None
            self._device = (find or pynvml.nvmlDeviceGetHandleByPciBusId)(address)
            self._nvml = pynvml
            self.read()
        except Exception as error:
            self.problem = " ".join(str(error).split()) or type(error).__name__
            self._nvml = None

    def read(self) -> State | None:
        nvml, device = self._nvml, self._device if self._nvml is not None else None
        if nvml is None:
            return None
        return State(
            nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_SM),
            nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_MEM),
            nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU),
            nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device) & THROTTLED,
        )


def is_unsteady(before: State | None, after: State | None) -> bool:
    """Returns whether the device was throttled at an end of a sample, or its clocks changed."""
    if before is None or after is None:
        return False
    if before.reasons or after.reasons:
        return True
    pairs = [(before.sm, after.sm), (before.memory, after.memory)]
    return any(abs(now - then) > STEP * max(now, then) for then, now in pairs)
