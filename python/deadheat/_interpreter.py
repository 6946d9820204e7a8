"""Gives workers the interpreter options and the run-time settings of the user's process.

`options` and `state` run in the process that calls `race`. A worker imports this module only if it
has settings to apply.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Values of -X that workers do not get, because they print or write a file in every process.
UNWANTED = {"importtime", "showrefcount", "showalloccount", "perf", "perf_jit", "presite"}
# The defaults of Python.
RECURSION_LIMIT, SWITCH_INTERVAL = 1_000, 0.005
GC_THRESHOLDS = {(700, 10, 10), (2_000, 10, 10), (2_000, 10, 0)}
ERRSTATE = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
FILTERS = [
    ["default", None, "builtins:DeprecationWarning", "__main__", 0],
    ["ignore", None, "builtins:DeprecationWarning", None, 0],
    ["ignore", None, "builtins:PendingDeprecationWarning", None, 0],
    ["ignore", None, "builtins:ImportWarning", None, 0],
    ["ignore", None, "builtins:ResourceWarning", None, 0],
]
CONTEXT = {
    "prec": 28,
    "rounding": "ROUND_HALF_EVEN",
    "Emin": -999_999,
    "Emax": 999_999,
    "capitals": 1,
    "clamp": 0,
    "traps": ["DivisionByZero", "InvalidOperation", "Overflow"],
}


def options() -> list[str]:
    """The options that Python was started with, except those for input and output."""
    flags = sys.flags
    found = []
    if flags.isolated:
        found.append("-I")
    else:
        found += ["-E"] * bool(flags.ignore_environment)
        found += ["-s"] * bool(flags.no_user_site)
        found += ["-P"] * bool(getattr(flags, "safe_path", False))
    found += ["-S"] * bool(flags.no_site)
    found += ["-B"] * bool(sys.dont_write_bytecode)
    for letter, times in (("O", flags.optimize), ("b", flags.bytes_warning)):
        found += [f"-{letter * times}"] * bool(times)
    for name, value in sys._xoptions.items():
        if name not in UNWANTED:
            found += ["-X", name if value is True else f"{name}={value}"]
    for warning in sys.warnoptions:
        found += ["-W", warning]
    return found


def state(is_async: bool) -> dict[str, Any]:
    """The run-time settings that a worker can apply and that differ from the defaults."""
    import gc
    from _thread import stack_size

    found: dict[str, Any] = {}
    if sys.getrecursionlimit() != RECURSION_LIMIT:
        found["recursion_limit"] = sys.getrecursionlimit()
    if sys.getswitchinterval() != SWITCH_INTERVAL:
        found["switch_interval"] = sys.getswitchinterval()
    if hasattr(sys, "get_int_max_str_digits"):
        digits = sys.get_int_max_str_digits()
        if digits != sys.int_info.default_max_str_digits:
            found["int_max_str_digits"] = digits
    if not gc.isenabled():
        found["gc"] = False
    if hasattr(gc, "get_threshold") and gc.get_threshold() not in GC_THRESHOLDS:
        found["gc_threshold"] = gc.get_threshold()
    # Calling `stack_size` also resets it to the default.
    size = stack_size()
    if size:
        found["stack_size"] = size
        stack_size(size)
    # During a test, pytest sets filters of its own to record all warnings.
    is_test = "_pytest" in sys.modules and "PYTEST_CURRENT_TEST" in os.environ
    if not is_test and filters() not in ([], FILTERS):
        found["filters"] = filters()
    found |= of_modules(is_async)
    return found


def of_modules(is_async: bool) -> dict[str, Any]:
    """The settings kept by modules, if this process has imported them."""
    found: dict[str, Any] = {}
    loaded = sys.modules
    if "locale" in loaded and locale_is_set():
        found["locale"] = current_locale()
    if "decimal" in loaded:
        context = decimal_context()
        if context != CONTEXT:
            found["decimal"] = context
    if "numpy" in loaded and hasattr(loaded["numpy"], "geterr"):
        errstate = loaded["numpy"].geterr()
        if errstate != ERRSTATE:
            found["numpy"] = errstate
    policy = getattr(loaded.get("asyncio.events"), "_event_loop_policy", None)
    module = type(policy).__module__
    if is_async and policy is not None and module.partition(".")[0] not in ("asyncio", "__main__"):
        found["policy"] = path_of(type(policy))
    return found


def apply(state: dict[str, Any]) -> None:
    """Applies the settings in a worker. Skips modules that the worker has not imported, except
    `decimal` and the event loop, which the raced functions need."""
    for name, value in state.items():
        APPLY[name](value)


def filters() -> list[list[Any]]:
    """The warning filters, in a form that can be sent to a worker."""
    import warnings

    return [
        [action, pattern_of(message), path_of(category), pattern_of(module), line]
        for action, message, category, module, line, *_ in warnings.filters
    ]


def pattern_of(compiled: Any) -> str | None:
    pattern = getattr(compiled, "pattern", compiled)
    return None if pattern is None else str(pattern)


def path_of(kind: Any) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def set_filters(wanted: list[list[Any]]) -> None:
    if filters() == wanted:
        return
    import warnings

    warnings.resetwarnings()
    for action, message, path, module, line in reversed(wanted):
        name, _, kind = path.partition(":")
        # If the class is not loaded here, its warnings cannot occur.
        category = getattr(sys.modules.get(name), kind, None)
        if category is not None:
            warnings.filterwarnings(action, message or "", category, module or "", line)


def current_locale() -> str:
    import _locale

    return str(_locale.setlocale(_locale.LC_ALL, None))


def locale_is_set() -> bool:
    """Returns whether a locale category other than LC_CTYPE is set; Python sets that itself."""
    parts = [part.partition("=") for part in current_locale().split(";")]
    named = {name if equals else "LC_ALL": value or name for name, equals, value in parts}
    named.pop("LC_CTYPE", None)
    return any(value not in ("C", "POSIX") for value in named.values())


def set_locale(wanted: str) -> None:
    import _locale

    if current_locale() != wanted:
        _locale.setlocale(_locale.LC_ALL, wanted)


def decimal_context() -> dict[str, Any]:
    import decimal

    context = decimal.getcontext()
    found = {name: getattr(context, name) for name in CONTEXT if name != "traps"}
    traps = sorted(signal.__name__ for signal, is_on in context.traps.items() if is_on)
    return {**found, "traps": traps}


def set_decimal_context(wanted: dict[str, Any]) -> None:
    import decimal

    if decimal_context() != wanted:
        traps = [getattr(decimal, name) for name in wanted["traps"]]
        decimal.setcontext(decimal.Context(**{**wanted, "traps": traps}))


def set_errstate(wanted: dict[str, str]) -> None:
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "seterr"):
        numpy.seterr(**wanted)


def set_policy(path: str) -> None:
    import asyncio
    import importlib

    module, _, name = path.partition(":")
    kind = getattr(importlib.import_module(module), name)
    if type(getattr(asyncio.events, "_event_loop_policy", None)) is not kind:
        asyncio.set_event_loop_policy(kind())


def set_collector(_: bool) -> None:
    import gc

    gc.disable()


def set_threshold(wanted: tuple[int, int, int]) -> None:
    import gc

    gc.set_threshold(*wanted)


def set_stack_size(wanted: int) -> None:
    from _thread import stack_size

    stack_size(wanted)


APPLY: dict[str, Callable[[Any], object]] = {
    "recursion_limit": sys.setrecursionlimit,
    "switch_interval": sys.setswitchinterval,
    "int_max_str_digits": getattr(sys, "set_int_max_str_digits", lambda _: None),
    "gc": set_collector,
    "gc_threshold": set_threshold,
    "stack_size": set_stack_size,
    "filters": set_filters,
    "locale": set_locale,
    "decimal": set_decimal_context,
    "numpy": set_errstate,
    "policy": set_policy,
}
