"""The clocks of a GPU around a sample, by NVML (the package `nvidia-ml-py`)."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
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
    """Clocks in MHz, the temperature in °C, and the bits of the reasons for throttling; None for
    readings that the device lacks."""

    def __init__(
        self, sm: int | None, memory: int | None, temperature: int | None, reasons: int | None
    ) -> None:
        self.sm = sm
        self.memory = memory
        self.temperature = temperature
        self.throttled = (reasons or 0) & THROTTLED
        readings = {"SM clock": sm, "memory clock": memory, "throttle reasons": reasons}
        self.missing = [name for name, value in readings.items() if value is None]

    def __str__(self) -> str:
        said = [
            words.format(value)
            for words, value in (
                ("SM at {} MHz", self.sm),
                ("memory at {} MHz", self.memory),
                ("{} degrees Celsius", self.temperature),
            )
            if value is not None
        ]
        named = [name for bit, name in REASONS.items() if self.throttled & bit]
        return ", ".join([*said, f"throttled ({', '.join(named)})"] if named else said)


class Clocks:
    """Reads the state of one device; `problem` says why it cannot."""

    def __init__(self, address: str) -> None:
        self.problem = ""
        self._nvml: Any = None
        try:
            import pynvml
        except ImportError:
            self.problem = "nvidia-ml-py is not installed (`pip install nvidia-ml-py`)"
            return
        try:
            pynvml.nvmlInit()
            self._device = device_at(pynvml, address)
            self._nvml = pynvml
        except Exception as error:
            self.problem = " ".join(str(error).split()) or type(error).__name__

    def read(self) -> State | None:
        nvml = self._nvml
        if nvml is None:
            return None
        return State(
            self._reading("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM),
            self._reading("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM),
            self._reading("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU),
            self._reading("nvmlDeviceGetCurrentClocksThrottleReasons"),
        )

    def _reading(self, name: str, *kind: int) -> int | None:
        try:
            return int(getattr(self._nvml, name)(self._device, *kind))
        except Exception:
            # Some devices lack a reading, as instances of MIG do, and any reading can fail during a
            # race. Neither is a fault of the function.
            return None


def device_at(nvml: Any, address: str) -> Any:
    """NVML's handle of a device with this UUID, or with this address on the PCI bus."""
    if not address.startswith("GPU-"):
        return nvml.nvmlDeviceGetHandleByPciBusId(address)
    try:
        return nvml.nvmlDeviceGetHandleByUUID(address)
    except Exception:
        # torch gives the UUID of an instance of MIG, which NVML knows by another prefix.
        return nvml.nvmlDeviceGetHandleByUUID(f"MIG-{address[4:]}")


def is_unsteady(*states: State | None) -> bool:
    """Returns whether the device was throttled in one of these states, in order of time, or its
    clocks changed between two of them."""
    known = [state for state in states if state is not None]
    if any(state.throttled for state in known):
        return True
    return steps([state.sm for state in known]) or steps([state.memory for state in known])


def steps(clocks: Sequence[int | None]) -> bool:
    read = [clock for clock in clocks if clock]
    return any(abs(now - then) > STEP * max(now, then) for then, now in pairwise(read))
