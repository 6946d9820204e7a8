"""The pipes between deadheat and this process, when it is a worker (docs/protocol.md).

Imported before anything of the user's runs, so it imports next to nothing.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from json import dumps, loads
    from signal import SIGKILL
    from typing import Any, BinaryIO, NoReturn
else:
    # `signal` and `json` themselves import enum and re, which take ten milliseconds.
    from _signal import SIGKILL

    class Scanned:
        """What the parser of `json` is made with."""

        strict = True
        object_hook = object_pairs_hook = None
        parse_float, parse_int, parse_constant = float, int, float

    try:
        from _json import encode_basestring_ascii, make_encoder, make_scanner

        scan = make_scanner(Scanned)
        text_of = encode_basestring_ascii
        write = make_encoder(None, None, text_of, None, ": ", ", ", False, False, True)

        def loads(text):
            return scan(text, 0)[0]

        def dumps(value):
            return "".join(write(value, 0))

        assert loads(dumps({"a": [1, 2.5, None]})) == {"a": [1, 2.5, None]}
    except Exception:
        # Another Python than CPython, or a later one.
        from json import dumps, loads

WORKER, BATON = "DEADHEAT_WORKER", "DEADHEAT_BATON"
PR_SET_PDEATHSIG = 1
IS_PYPY = sys.implementation.name == "pypy"


class PeerGone(Exception):
    """The other process of the race has closed the baton's pipe."""


class Channel:
    """Requests, replies, notes and the baton of a worker process."""

    def __init__(self, descriptors: list[int], baton: list[int]) -> None:
        requests, self._replies, self._notes = descriptors
        self._requests: BinaryIO = os.fdopen(requests, "rb")
        self._baton = baton
        self._pid = os.getpid()
        # In a child forked for one benchmark: a pipe to its parent, written on a normal end.
        self._over: int | None = None
        # Fields of `prepared` about the process that serves the benchmark.
        self.of_process: dict[str, Any] = {}
        for descriptor in descriptors + baton:
            os.set_inheritable(descriptor, False)
        os.set_blocking(self._notes, False)

    @property
    def takes_turns(self) -> bool:
        return bool(self._baton)

    def request(self) -> tuple[str, dict[str, Any]]:
        """Returns the kind of the next request and what it says; `bye` at the end of file."""
        line = self._requests.readline()
        kind, said = loads(line.decode()).popitem() if line else ("bye", {})
        return kind, said

    def reply(self, kind: str, said: dict[str, Any]) -> None:
        self.end_if_forked()
        line = dumps({kind: said}).encode() + b"\n"
        while line:
            line = line[os.write(self._replies, line) :]

    def note(self, contender: int | None) -> None:
        """Says which contender is called from now on, for the case that it crashes or hangs."""
        number = 0 if contender is None else contender + 1
        try:
            os.write(self._notes, bytes([number % 256]))
        except OSError:
            pass  # A note that does not fit is lost.

    def pass_baton(self) -> None:
        self.end_if_forked()
        try:
            os.write(self._baton[1], b"\1")
        except OSError:
            raise PeerGone from None

    def take_baton(self) -> None:
        self.end_if_forked()
        if not os.read(self._baton[0], 1):
            raise PeerGone
        os.sched_yield()  # Lets the other process, which has just written, fall asleep.

    def end_if_forked(self) -> None:
        """Ends a child that came back from a call in which a function forked."""
        if os.getpid() != self._pid:
            os._exit(1)

    def goes_on_in_child(self, over: int) -> None:
        """Continues in this process, which was forked for one benchmark."""
        self._pid, self._over = os.getpid(), over
        self.of_process = {"process": self._pid}

    def end(self) -> NoReturn:
        """Ends this process and all that its functions have started."""
        self.end_if_forked()
        if self._over is not None:
            os.write(self._over, b"\1")
        if os.getpgrp() == self._pid:
            os.killpg(self._pid, SIGKILL)
        os._exit(0)  # Threads that still run are not waited for.


def claim() -> Channel | None:
    """Takes the pipes that deadheat has given this process, or returns None if it has not."""
    numbers = os.environ.get(WORKER)
    if numbers is None:
        return None
    if sys.platform == "linux":
        end_with_parent()
        os.register_at_fork(after_in_child=end_with_main_thread)
    # Triton reads it when it is imported: what the pilot's autotuner chose, all replicates run.
    os.environ.setdefault("TRITON_CACHE_AUTOTUNING", "1")
    # Before the functions and their constants are made.
    held.extend(hold_heap(drawn()))
    descriptors = [int(number) for number in os.environ.pop(WORKER).split(",")]
    baton = [int(number) for number in os.environ.pop(BATON, "").split(",") if number]
    return Channel(descriptors, baton)


def drawn() -> int:
    """The number from 0 to 4095 that deadheat has drawn for this process: the size by which it
    moves the environment."""
    return len(os.environ.get("DEADHEAT_PADDING", ""))


def hold_heap(number: int) -> list[Any]:
    """Holds that many bytes, and small objects of every size, so that what comes after lies at
    other places of the heap: Python keeps small objects in pools of its own, by sixteen bytes."""
    kept: list[Any] = [bytearray(number)]
    for step in range(32):
        number = (number * 1_103_515_245 + 12_345) % 2**31
        kept.append([small_object(step) for _ in range((number >> 16) % 64)])
    return kept


def small_object(step: int) -> object:
    """A new object of 16 · (step + 1) bytes."""
    if step < 2:
        return step / 3 if step else object()
    return bytes(16 * step - 24)


held: list[Any] = []

MAIN = get_ident()


def end_with_main_thread() -> None:
    """The kernel means by a parent the thread that forked, and other threads may end early."""
    if get_ident() == MAIN:
        end_with_parent()


def end_with_parent() -> None:
    """Has the kernel kill this process when its parent ends, also in the middle of a call."""
    try:
        if IS_PYPY:
            c_function("prctl", "int", "unsigned long")(PR_SET_PDEATHSIG, SIGKILL)
            return
        # What ctypes would call; ctypes itself takes some milliseconds to import.
        from _ctypes import call_function, dlopen, dlsym

        prctl = dlsym(dlopen(None, os.RTLD_NOW), "prctl")  # type: ignore[arg-type]
        call_function(prctl, (PR_SET_PDEATHSIG, SIGKILL))
    except (ImportError, OSError):
        pass  # The end of the requests tells as well, between calls.


def c_function(name: str, *arguments: str) -> Callable[..., int]:
    """A function of C that returns an int, on PyPy, where ctypes takes 60 ms to import."""
    import _cffi_backend as c  # type: ignore[import-untyped,import-not-found,unused-ignore]

    types = tuple(c.new_primitive_type(kind) for kind in arguments)
    kind = c.new_function_type(types, c.new_primitive_type("int"), False)
    found: Callable[..., int] = c.load_library(None).load_function(kind, name)
    return found
