"""One start for many benchmarks: a process imports everything once and forks for each benchmark.

Each child serves one benchmark; the parent waits until it ends and replies `over`. If a child
crashes, the parent ends by the same signal or exit code, because deadheat watches the parent.
"""

from __future__ import annotations

import gc
import os
import sys
from time import sleep

from deadheat._channel import IS_PYPY, Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import SIG_DFL, SIGKILL, signal
    from typing import Any, NoReturn
else:
    # `signal` itself imports enum.
    from _signal import SIG_DFL, SIGKILL, signal

# Not on macOS, because its system libraries do not work in a forked process.
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"
# Seconds that a trial child, which only exits, may take.
TRIAL = 1.0


def request_in_child(channel: Channel) -> tuple[str, dict[str, Any]]:
    """Replies to `import` after all imports, forks for each benchmark, and returns the next request
    in the child.

    If other threads run, it does not fork, and the reply gives the reason.
    """
    threads = other_threads()
    if threads:
        many = "a thread" if threads == 1 else f"{threads} threads"
        said = f"{many} that its imports started would be missing in a fork"
        channel.reply("imported", {"unforked": said})
        return channel.request()
    channel.reply("imported", {})
    while True:
        request = channel.request()
        if request[0] != "prepare" or becomes_child(channel):
            return request
        channel.reply("over", {})


def becomes_child(channel: Channel) -> bool:
    """Forks. Returns true in the child, which serves the benchmark, and false in the parent after
    the child has ended normally."""
    # The children share the memory in use now, as long as no collection writes to it.
    gc.collect()
    if not IS_PYPY:  # PyPy lacks `gc.freeze`.
        gc.freeze()
    heard, tell = os.pipe()
    own = os.getpid()
    # Python gives `random` a new seed after a fork. The seed of the user's file must hold, because
    # both sides must get the same data.
    drawn = sys.modules.get("random")
    state = drawn.getstate() if drawn and hasattr(drawn, "getstate") else None
    child = os.fork()
    if child == 0:
        if drawn and state:
            drawn.setstate(state)
        os.close(heard)
        # A process group of its own: killing it ends all processes that the benchmark started.
        os.setpgid(0, 0)
        if os.getppid() != own:
            os._exit(1)
        channel.goes_on_in_child(tell)
        return True
    os.close(tell)
    _, status = os.waitpid(child, 0)
    end_group(child)
    os.set_blocking(heard, False)
    try:
        is_over = bool(os.read(heard, 1))
    except BlockingIOError:
        is_over = False
    os.close(heard)
    if not is_over:
        end_as(status)
    return False


def end_group(child: int) -> None:
    try:
        os.killpg(child, SIGKILL)
    except OSError:
        pass  # All its processes have ended.


def end_as(status: int) -> NoReturn:
    """Ends this process by the signal or with the exit code of its child."""
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        # The child has already dumped core if the limit allows it.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if number != SIGKILL:
            signal(number, SIG_DFL)
        os.kill(os.getpid(), number)
        sleep(1)  # Until the signal arrives.
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)


def other_threads() -> int:
    """The number of other threads of this process that outlive a fork.

    Some libraries, such as OpenBLAS, end their threads before a fork and start them again when
    needed. A trial fork excludes these, so `import numpy` alone does not count.
    """
    if threads_now() == 0:
        return 0
    threading = sys.modules.get("threading")
    known = threading.active_count() - 1 if threading is not None else 0
    if known == 0:
        fork_for_nothing()
    return max(known, threads_now())


def threads_now() -> int:
    try:
        return len(os.listdir("/proc/self/task")) - 1
    except OSError:
        threading = sys.modules.get("threading")
        return threading.active_count() - 1 if threading is not None else 0


def fork_for_nothing() -> None:
    import warnings

    with warnings.catch_warnings():
        # Python warns of forks in a process with threads.
        warnings.simplefilter("ignore")
        child = os.fork()
        if child == 0:
            os._exit(0)
    passed, pause = 0.0, 0.000_1
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if passed > TRIAL:
            os.kill(child, SIGKILL)
            os.waitpid(child, 0)
            return
        sleep(pause)
        passed, pause = passed + pause, 2 * pause
