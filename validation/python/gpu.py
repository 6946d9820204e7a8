"""Races on a GPU: kernels against their copies and against more work, next to do_bench.

`gpu.py measure` measures on the device of this machine, and writes what it finds to the folder as
it goes. `gpu.py simulate` does the same on the simulated device of the tests. `gpu.py page` writes
the page of both.
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import monotonic

HERE = Path(__file__).resolve().parent
SIMULATED = HERE.parents[1] / "python" / "tests" / "simulated_gpu"
KERNELS = ("add", "softmax", "matmul", "short")
NAMES = {
    "add": "vector add, 16 Mi floats",
    "softmax": "softmax, 8,192 rows of 4,096 bf16",
    "matmul": "matmul, 4,096 × 8,192 × 4,096 bf16",
    "short": "a kernel of 5,000 cycles",
}
# What the simulated device does: see python/tests/simulated_gpu/device.py.
NOISE = {"process": 0.01, "side": 0.001, "drift": 0.001, "noise": 0.003}
NOISE |= {"steps": 0.2, "throttled": 0.5}
# Blocks of a replicate, and replicates of a race: the fewest that a verdict needs.
BLOCKS, REPLICATES = 8, 6
# A change within it is a dead heat. Half of the smallest change that is asked for.
ALPHA, MARGIN = 0.05, 0.005


def cases_of_pass(start):
    """Twelve races: each kernel with its copy, cold and warm, and four with more work."""
    copies = [[kernel, cache, 0] for kernel in KERNELS for cache in ("warm", "cold")]
    turn = start // 12 % 2
    more = [[kernel, "warm", 1 + (at + turn) % 2] for at, kernel in enumerate(KERNELS)]
    return [[start + at, *case] for at, case in enumerate(copies + more)]


class Measured:
    """Observations, kept as they come."""

    def __init__(self, folder, seconds):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.begun, self.seconds = monotonic(), seconds

    def left(self):
        return self.seconds - (monotonic() - self.begun)

    def keep(self, **observation):
        with open(self.folder / "gpu.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(observation) + "\n")
        shown = {key: value for key, value in observation.items() if key != "warnings"}
        print(f"[{monotonic() - self.begun:5.0f} s]", json.dumps(shown)[:300], flush=True)

    def race(self, file, environment, save, options):
        """The answer of `deadheat bench` on a file, or None if there is no time for it."""
        if self.left() < 10:
            return None
        command = ["deadheat", "bench", f"{sys.executable} {HERE / file}", "--json", "--quiet"]
        command += ["--no-config", "--save", str(save), *options]
        try:
            done = subprocess.run(
                command,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                timeout=self.left(),
            )
        except subprocess.TimeoutExpired:
            print("stopped: no time left", flush=True)
            return None
        print(done.stderr[-2_000:], end="", flush=True)
        try:
            return json.loads(done.stdout)
        except ValueError:
            print(done.stdout[-2_000:], flush=True)
            return None


def keep_races(measured, count, environment, tool):
    """Races passes of twelve, `count` of them in one run."""
    start = next_number(measured.folder)
    cases = [case for at in range(count) for case in cases_of_pass(start + 12 * at)]
    environment = {**environment, "GPU_CASES": json.dumps(cases)}
    begun = monotonic()
    run = measured.folder / f"run-{start}.jsonl"
    options = [f"--seed={start + 1}", f"--blocks={BLOCKS}", f"--max-replicates={REPLICATES}"]
    options.append(f"--margin={MARGIN}")
    answer = measured.race("bench_gpu.py", environment, run, options)
    if answer is None:
        return None
    for failed in answer.get("failures", []):
        measured.keep(tool=tool, failed=failed["benchmark"], message=failed["message"])
    for told in answer["benchmarks"]:
        kernel, cache, work, number = told["benchmark"].split("/")
        measured.keep(
            tool=tool,
            number=int(number),
            kernel=kernel,
            cache=cache,
            work=int(work),
            verdict=told["verdict"],
            change=told["change"],
            interval=told["ci"],
            typical_ns=told["baseline"]["typical"],
            warnings=[warning["message"] for warning in told["warnings"]],
        )
    return monotonic() - begun


def next_number(folder):
    file = Path(folder) / "gpu.jsonl"
    found = [one for one in read(file) if "number" in one] if file.exists() else []
    return 12 + max(one["number"] for one in found) // 12 * 12 if found else 0


def keep_do_bench(measured, pairs):
    """The same pairs of warm inputs by triton.testing.do_bench, in turns in one process."""
    from bench_gpu import KERNELS as MADE
    from bench_gpu import WORK
    from triton.testing import do_bench

    for pair in range(pairs):
        for kernel in KERNELS:
            make, function_of = MADE[kernel]
            given = make(1_000 * pair)
            for work in (0, 1, 2) if pair % 3 == 0 else (0,):
                if measured.left() < 20:
                    return
                both = [function_of(1.0), function_of(WORK[kernel][work])]
                times = [do_bench(partial(f, given), return_mode="median") for f in both]
                measured.keep(
                    tool="do_bench",
                    kernel=kernel,
                    work=work,
                    change=times[1] / times[0] - 1,
                    typical_ns=1e6 * times[0],
                )


def keep_faults(measured):
    run = measured.folder / "faults.jsonl"
    options = ["--seed=1", "--blocks=2", "--max-replicates=1"]
    answer = measured.race("bench_gpu_faults.py", {}, run, options)
    run.unlink(missing_ok=True)
    if answer is None:
        return
    for failed in answer.get("failures", []):
        measured.keep(tool="fault", name=failed["benchmark"], message=failed["message"])
    for told in answer["benchmarks"]:
        if told["change"] is not None:
            warnings = [warning["message"] for warning in told["warnings"]]
            measured.keep(tool="fault", name=told["benchmark"], warnings=warnings)


def keep_libraries(measured):
    """CuPy and Numba time a kernel of their own against its copy."""
    for library in ("cupy", "numba"):
        file = f"bench_gpu_{library}.py"
        run = measured.folder / f"{library}.jsonl"
        options = ["--seed=1", "--blocks=4", f"--max-replicates={REPLICATES}"]
        answer = measured.race(file, {}, run, options)
        run.unlink(missing_ok=True)
        if answer is None:
            continue
        for failed in answer.get("failures", []):
            measured.keep(tool=library, failed=failed["benchmark"], message=failed["message"])
        for told in answer["benchmarks"]:
            measured.keep(
                tool=library,
                verdict=told["verdict"],
                change=told["change"],
                interval=told["ci"],
                typical_ns=told["baseline"]["typical"],
                warnings=[warning["message"] for warning in told["warnings"]],
            )


def measure(folder, seconds):
    measured = Measured(folder, seconds)
    import torch
    import triton

    from deadheat._gpu_clocks import Clocks
    from deadheat._gpu_libraries import Torch

    clocks = Clocks(Torch().address(0))
    measured.keep(
        tool="device",
        name=torch.cuda.get_device_name(),
        torch=torch.__version__,
        triton=triton.__version__,
        state=str(clocks.read() or clocks.problem),
    )
    took = keep_races(measured, 1, {}, "deadheat")
    keep_do_bench(measured, 12)
    while took is not None:
        # Starts of processes are shared by all races of a run, so one long run is best.
        passes = int(0.9 * (measured.left() - 190) / max(took - 25, 1))
        if passes < 1:
            break
        took = keep_races(measured, min(passes, 8), {}, "deadheat") and took
    # Last, because each failure starts processes that import torch: they take 100 s.
    keep_libraries(measured)
    keep_faults(measured)
    pack(measured.folder)


def simulate(folder, passes):
    measured = Measured(folder, 3_600)
    path = os.pathsep.join([str(SIMULATED), os.environ.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": path, "SIMULATED_GPU": json.dumps(NOISE)}
    for _ in range(passes):
        keep_races(measured, 1, environment, "simulated")
    for run in measured.folder.glob("run-*.jsonl"):
        run.unlink()


def pack(folder):
    """Adds all runs to one compressed file, behind those of earlier measurements."""
    runs = sorted(Path(folder).glob("run-*.jsonl"))
    text = b"".join(run.read_bytes() for run in runs)
    with open(Path(folder) / "gpu_runs.jsonl.xz", "ab") as file:
        file.write(lzma.compress(text, preset=9))
    for run in runs:
        run.unlink()


def read(file):
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["measure", "simulate", "page"])
    parser.add_argument("--folder", default=str(HERE.parent / "data"))
    parser.add_argument("--seconds", type=float, default=450)
    parser.add_argument("--passes", type=int, default=20)
    asked = parser.parse_args()
    if asked.what == "measure":
        measure(asked.folder, asked.seconds)
    elif asked.what == "simulate":
        simulate(asked.folder, asked.passes)
    else:
        from gpu_page import page

        text = page(read(Path(asked.folder) / "gpu.jsonl"))
        (HERE.parents[1] / "docs" / "validation" / "gpu.md").write_text(text, encoding="utf-8")
