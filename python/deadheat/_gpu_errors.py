"""Errors of a GPU that say more about the device or its memory than about the function."""

from __future__ import annotations

# The most characters of an error of the device.
MOST_SAID = 300
# Types of errors of torch, CuPy and Numba. Others name CUDA in their text.
TYPES = {"AcceleratorError", "CUDARuntimeError", "CUDADriverError", "CudaAPIError", "CUresult"}
# Letters of the texts and names that torch, CuPy, Numba and Triton have for these errors.
OUT_OF_MEMORY = ("outofmemory", "memoryallocation", "statusallocfailed")
# After these errors, CUDA fails every further call of the process. After others, such as "invalid
# configuration argument", the device works as before.
STICKY = (
    "addressspace",
    "devicesideassert",
    "errorassert",
    "eccerror",
    "eccuncorrectable",
    "errorunknown",
    "gpuislost",
    "hardwarestack",
    "illegaladdress",
    "illegalinstruction",
    "illegalmemoryaccess",
    "invalidpc",
    "invalidprogramcounter",
    "launchfailed",
    "launchfailure",
    "launchtimedout",
    "launchtimeout",
    "misalignedaddress",
    "nvlinkuncorrectable",
    "unknownerror",
)


def reason(error: BaseException) -> str:
    """The first line of an error: the lines after it are advice on how to debug it."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:MOST_SAID]


def device_problem(error: BaseException, seed: int | None) -> str | None:
    """Describes an error of the device or of its memory. None for other errors."""
    named, text = type(error).__name__, str(error).lower()
    letters = "".join(filter(str.isalnum, text))
    if named != "OutOfMemoryError" and named not in TYPES and "cuda" not in letters:
        return None
    given = "" if seed is None else f" (input of seed {seed})"
    if named == "OutOfMemoryError" or any(words in letters for words in OUT_OF_MEMORY):
        return f"ran out of GPU memory{given}: {reason(error)} Give it a smaller input"
    if any(words in letters for words in STICKY):
        return (
            f"lost the GPU{given}: {reason(error)}; "
            "CUDA_LAUNCH_BLOCKING=1 shows which launch failed"
        )
    return None
