"""What the start of a replicate takes, from the launch to `prepared`: milliseconds of `python -c
pass`, and the ratios of what replicates take to that, by wall time and CPU time."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from deadheat._travel import packed, script_for

ROUNDS = 60
PREPARE = b'{"prepare":{"benchmark":"f","contender":null,"heap_bytes":500}}\n{"bye":{}}\n'


def until_prepared(command: list[str], **variables: str) -> tuple[float, float]:
    """Wall time until the worker says `prepared`, and its CPU time, in seconds."""
    requests, ask = os.pipe()
    replies, theirs = os.pipe()
    os.write(ask, PREPARE)
    os.close(ask)
    variables["DEADHEAT_WORKER"] = f"{requests},{theirs},{theirs}"
    begun = perf_counter()
    worker = subprocess.Popen(
        command,
        env={**os.environ, **variables},
        pass_fds=[requests, theirs],
        start_new_session=True,
    )
    os.close(theirs)
    with os.fdopen(replies, "rb") as said:
        # The notes come by the same pipe, and are no lines.
        while b"prepared" not in (line := said.readline()):
            assert line
        took = perf_counter() - begun
    os.close(requests)
    return took, cpu_of(worker)


def until_ended(command: list[str]) -> tuple[float, float]:
    begun = perf_counter()
    process = subprocess.Popen(command)
    cpu = cpu_of(process)
    return perf_counter() - begun, cpu


def cpu_of(process: subprocess.Popen) -> float:
    _, process.returncode, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


def nothing():
    pass


with tempfile.TemporaryDirectory() as folder:
    bench = Path(folder, "bench.py")
    bench.write_text("import deadheat\n@deadheat.benchmark\ndef f(): pass\ndeadheat.suite()\n")
    race = Path(folder, "race.py")
    options = {"input_per_call": False, "check_outputs": False, "gc": False}
    rest = {"benchmark": "f", "names": ("old", "new"), "options": options}
    Path(folder, "race.pickle").write_bytes(packed({"old": nothing, "new": nothing}, rest))
    race.write_text(script_for(str(Path(folder, "race.pickle"))))
    python = sys.executable
    ways = {
        "python -c pass": lambda: until_ended([python, "-c", "pass"]),
        "a bench file": lambda: until_prepared([python, str(bench)]),
        "race, functions by value": lambda: until_prepared([python, str(race)]),
    }
    # In turns, so that all meet the same machine.
    taken = [[way() for way in ways.values()] for _ in range(ROUNDS)]
    told = {}
    for kind, name_of_kind in enumerate(["wall", "cpu"]):
        columns = list(zip(*([row[kind] for row in each] for each in taken)))
        told[name_of_kind] = {
            name: median(time / bare for time, bare in zip(column, columns[0]))
            for name, column in zip(ways, columns)
        }
        told[name_of_kind]["python -c pass"] = 1e3 * median(columns[0])
print(json.dumps(told))
