"""A process that tries to capture functions into CUDA graphs, and is thrown away.

A capture that fails can spoil its process: the random generator and the allocator of torch stay in
the state of a capture (issues 171263 and 180395 of PyTorch), so that `torch.randn` fails later.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from deadheat._channel import WORKER
from deadheat._forks import CAN_FORK, other_threads
from deadheat._gpu import driver_is_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Comes before the reason, because a process that crashes writes nothing.
MARK = b"!"
CRASHED = "the process that tries to capture the functions crashed"


class Trial:
    """A process that is forked before this one opens the GPU, because a fork cannot use a GPU that
    its parent has opened. It waits until its result is asked for."""

    def __init__(self, attempt: Callable[[], str]) -> None:
        asked, self._ask = os.pipe()
        self._heard, tell = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            try:
                os.close(self._ask)
                os.close(self._heard)
                if os.read(asked, 1):
                    os.write(tell, MARK + attempt().encode())
            finally:
                os._exit(0)
        os.close(asked)
        os.close(tell)

    def result(self) -> str:
        """The reason why the functions cannot be captured; empty if they can."""
        os.write(self._ask, MARK)
        said = b""
        while piece := os.read(self._heard, 1 << 16):
            said += piece
        return said[len(MARK) :].decode() if said.startswith(MARK) else CRASHED

    def close(self) -> None:
        """Ends the process."""
        os.close(self._ask)
        os.close(self._heard)
        try:
            os.waitpid(self._child, 0)
        except ChildProcessError:
            pass  # The function has waited for all children.


class StartedTrial:
    """A new worker, if this one has used the GPU or started threads before the race. It imports
    torch again, which takes 3 s, so it starts only if its result is asked for."""

    def __init__(self, requests: list[dict[str, Any]]) -> None:
        self._requests = requests

    def result(self) -> str:
        asked, ask = os.pipe()
        heard, tell = os.pipe()
        with open(os.devnull, "wb") as notes:
            descriptors = [asked, tell, notes.fileno()]
            worker = subprocess.Popen(
                [sys.executable, *sys.orig_argv[1:]],
                env={**os.environ, WORKER: ",".join(map(str, descriptors))},
                pass_fds=descriptors,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        os.close(asked)
        os.close(tell)
        with open(ask, "w") as to_worker, open(heard) as from_worker:
            to_worker.writelines(json.dumps(request) + "\n" for request in self._requests)
            to_worker.flush()
            replies = [json.loads(line) for line in from_worker]
        worker.wait()
        return next((said["tried"]["problem"] for said in replies if "tried" in said), CRASHED)

    def close(self) -> None: ...


def trial(attempt: Callable[[], str], requests: list[dict[str, Any]]) -> Trial | StartedTrial:
    """A process that makes this attempt, or a worker that makes it in reply to these requests."""
    can_fork = CAN_FORK and not driver_is_open() and not other_threads()
    return Trial(attempt) if can_fork else StartedTrial(requests)
