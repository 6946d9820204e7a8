"""What an error of a GPU is called."""

from __future__ import annotations

import pytest

from deadheat._gpu_errors import device_problem

ADDRESS = "an illegal memory access was encountered"


def error(kind, said):
    return type(kind, (Exception,), {})(said)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("OutOfMemoryError", "CUDA out of memory. Tried to allocate 160 GiB"),
        ("OutOfMemoryError", "Out of memory allocating 1,000 bytes (allocated so far: 0 bytes)."),
        ("AcceleratorError", "CUDA error: out of memory"),
        ("CUDARuntimeError", "cudaErrorMemoryAllocation: out of memory"),
        ("CudaAPIError", "[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"),
        (
            "RuntimeError",
            "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)",
        ),
    ],
)
def test_running_out_of_memory_is_named_for_every_library(kind, said):
    problem = device_problem(error(kind, said), 7)
    assert problem.startswith("ran out of GPU memory (input of seed 7): ")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("AcceleratorError", f"CUDA error: {ADDRESS}"),
        ("RuntimeError", f"Triton Error [CUDA]: {ADDRESS}"),
        ("RuntimeError", "CUDA error: device-side assert triggered"),
        ("CUDARuntimeError", f"cudaErrorIllegalAddress: {ADDRESS}"),
        ("CUDADriverError", "CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure"),
        ("CudaAPIError", "[700] Call to cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS"),
        (
            "CudaAPIError",
            "[716] Call to cuMemcpyDtoH results in CUDA_ERROR_MISALIGNED_ADDRESS",
        ),
    ],
)
def test_errors_that_end_the_context_are_named_for_every_library(kind, said):
    assert device_problem(error(kind, said), None).startswith("lost the GPU: ")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("AcceleratorError", "CUDA error: invalid configuration argument"),
        ("CUDADriverError", "CUDA_ERROR_INVALID_VALUE: invalid argument"),
        ("CudaAPIError", "[1] Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE"),
        ("RuntimeError", "size mismatch, m1: [2, 3], m2: [4, 5]"),
        ("MemoryError", "out of memory"),
        ("ValueError", "unknown error"),
    ],
)
def test_errors_after_which_the_device_works_are_those_of_the_function(kind, said):
    assert device_problem(error(kind, said), None) is None
