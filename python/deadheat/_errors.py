"""The errors of deadheat, all of one family."""

from __future__ import annotations


class DeadheatError(Exception):
    """The base of all errors of this package."""


class UsageError(DeadheatError):
    """A benchmark or a setting that makes no sense."""


class ProgramNotFound(DeadheatError):
    """The program `deadheat` is neither beside this Python nor on PATH."""


class CannotTravel(DeadheatError):
    """A function that cannot be sent to a fresh process, by what it holds."""


class RaceFailed(DeadheatError):
    """A race without an answer: a function failed or hung, or the program did; in its words."""


class Refused(UsageError):
    """A benchmark is refused because its times would be misleading; the message says why."""


class TooSlow(DeadheatError, AssertionError):
    """A candidate that a test does not allow to be so slow."""


# They are named by the place that they are imported from.
for _error in (UsageError, ProgramNotFound, CannotTravel, RaceFailed, TooSlow, DeadheatError):
    _error.__module__ = "deadheat"
