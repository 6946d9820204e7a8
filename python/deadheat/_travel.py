"""Functions on their way to a fresh process: by import path where they have one, else by value."""

from __future__ import annotations

import importlib
import inspect
import io
import marshal
import os
import pickle
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from deadheat._benchmarks import is_coroutine_function
from deadheat._channel import IS_PYPY
from deadheat._errors import CannotTravel, UsageError
from deadheat._interpreter import state

# On PyPy cloudpickle extends the pickler that is written in Python. Since PyPy 8 that is
# no longer the one of this name, and cloudpickle 3.1 cannot be imported.
usual_pickler = pickle.Pickler
if IS_PYPY:
    pickle.Pickler = pickle._Pickler  # type: ignore[assignment,misc]
import cloudpickle  # noqa: E402

pickle.Pickler = usual_pickler  # type: ignore[misc]
if IS_PYPY:
    # What cloudpickle would make code of is more than PyPy 7.3 takes. Workers are of this Python.
    def of_code(code: types.CodeType) -> tuple[Callable[..., Any], tuple[bytes]]:
        return marshal.loads, (marshal.dumps(code),)

    cloudpickle.CloudPickler.dispatch_table[types.CodeType] = of_code

# How to do without what cannot be sent, by the class of it.
WAYS_OUT = {
    "lock": "make the lock in the function or in `input`",
    "RLock": "make the lock in the function or in `input`",
    "socket": "connect in the function or in `input`",
    "generator": "make a list of it, or make it in `input`",
}
OTHERWISE = (
    "make it in `input` or in the function, or move the functions into a module, which every "
    "process then imports"
)


def resolved(function: Callable[..., Any] | str, role: str) -> Callable[..., Any]:
    """The function itself, or that of an import path such as `"package.module:function"`."""
    found: Any = function
    if isinstance(function, str):
        module, colon, name = function.partition(":")
        if not colon:
            module, _, name = function.rpartition(".")
        try:
            found = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError, ValueError) as error:
            raise UsageError(f"{role}: there is no function {function!r} ({error})") from None
    if not callable(found):
        raise UsageError(f"{role} is no function but {type(found).__name__}")
    return found  # type: ignore[no-any-return]


def packed(functions: dict[str, Callable[..., Any]], rest: dict[str, Any]) -> bytes:
    """Everything a worker needs: the state of this interpreter, the names of the modules to import,
    and the functions, each a pickle.

    Functions of `__main__`, lambdas and inner functions are pickled by value, with the globals
    they use. All others go by their import path, so the worker has the module, and no copies.
    """
    checks = {role: check for role, check in rest["options"].items() if callable(check)}
    for role, function in (functions | checks).items():
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        if module is not None and not importable(module.__name__):
            cloudpickle.register_pickle_by_value(module)
        # A file that is open for reading would be sent as the text that it holds.
        for whence, value in held_by(function):
            if isinstance(value, io.IOBase) and not by_path(function):
                raise CannotTravel(f"{role}: {refusal(function, whence, value)}")
        try:
            cloudpickle.dumps(function)
        except Exception as error:
            raise CannotTravel(f"{role}: {blamed(function, error)}") from error
    imported = [f.__module__ for f in functions.values() if by_path(f)]
    modules = [module for module in dict.fromkeys(imported) if importable(module)]
    is_async = any(map(is_coroutine_function, functions.values()))
    everything: bytes = pickle.dumps(state(is_async)) + pickle.dumps(modules)
    everything += cloudpickle.dumps({"functions": functions, **rest})
    return everything


def blamed(function: Callable[..., Any], error: Exception) -> str:
    """Says what of a function cannot be sent, and what to do about it."""
    for whence, value in held_by(function):
        try:
            cloudpickle.dumps(value)
        except Exception:
            return refusal(function, whence, value)
    name = getattr(function, "__qualname__", repr(function))
    return f"{name} cannot be sent to a fresh process ({error}): {OTHERWISE}"


def refusal(function: Callable[..., Any], whence: str, value: Any) -> str:
    name = getattr(function, "__qualname__", repr(function))
    kind = type(value).__name__
    if isinstance(value, io.IOBase):
        kind, way_out = f"an open file, {kind}", "open it in the function or in `input`"
    else:
        way_out = WAYS_OUT.get(kind, OTHERWISE)
    return f"{name} uses {whence}, which cannot be sent to a fresh process ({kind}): {way_out}"


def importable(module: str) -> bool:
    """Returns whether a fresh process would find a module; a test file need not be on the path."""
    top = module.partition(".")[0]
    return any(finder.find_spec(top, None) is not None for finder in sys.meta_path)


def by_path(function: Callable[..., Any]) -> bool:
    """Returns whether a function is sent as its import path."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    found = getattr(module, getattr(function, "__qualname__", ""), None)
    return found is function and module is not sys.modules["__main__"]


def held_by(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """What a function reaches: variables around it, globals, defaults, arguments, its object."""
    yield from ((f"argument {n + 1}", v) for n, v in enumerate(getattr(function, "args", ())))
    inner: Any = getattr(function, "func", function)
    if inspect.ismethod(inner):
        yield "its object", inner.__self__
        inner = inner.__func__
    if not inspect.isfunction(inner):
        return
    try:
        found = inspect.getclosurevars(inner)
    except ValueError:
        return  # A variable around it has no value yet.
    yield from ((f"the variable {name!r}", value) for name, value in found.nonlocals.items())
    yield from ((f"the global {name!r}", value) for name, value in found.globals.items())
    yield from (("a default value", value) for value in inner.__defaults__ or ())


# What the worker of a race runs: no line of the user's script, whose main part would race again.
SCRIPT = """\
import sys
sys.path[:] = {path!r}
import deadheat
from deadheat._worker import serve_packed
serve_packed({file!r})
"""


def script_for(file: str) -> str:
    """The text of a script that serves the packed functions of a file."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = [os.path.abspath(entry) for entry in sys.path]
    return SCRIPT.format(path=path if package in path else [*path, package], file=file)
