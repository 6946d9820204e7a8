"""Functions on their way to a fresh process: by import path where they have one, else by value."""

from __future__ import annotations

import functools
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
        raise UsageError(f"{role} is not a function but {type(found).__name__}")
    return found  # type: ignore[no-any-return]


def packed(functions: dict[str, Callable[..., Any]], rest: dict[str, Any]) -> bytes:
    """Everything a worker needs: the state of this interpreter, the names of the modules to import,
    and the functions, each a pickle.

    Functions of `__main__`, lambdas and inner functions are pickled by value, with the globals
    they use. All others go by their import path, so the worker has the module, and no copies.
    """
    importable.cache_clear()
    registered = cloudpickle.list_registry_pickle_by_value()
    try:
        return packed_here(functions, rest)
    finally:
        # Other users of cloudpickle in this process send these modules by name.
        for name in cloudpickle.list_registry_pickle_by_value() - registered:
            cloudpickle.unregister_pickle_by_value(sys.modules[name])


def packed_here(functions: dict[str, Callable[..., Any]], rest: dict[str, Any]) -> bytes:
    checks = {role: check for role, check in rest["options"].items() if callable(check)}
    for role, function in (functions | checks).items():
        # A file that is open for reading would be sent as the text that it holds.
        for whence, value in held_by(function):
            if isinstance(value, io.IOBase) and not by_path(function):
                raise CannotTravel(f"{role}: {refusal(function, whence, value)}")
        try:
            pickled(function)
        except Exception as error:
            raise CannotTravel(f"{role}: {blamed(function, error)}") from error
    imported = [without_arguments(f).__module__ for f in functions.values() if by_path(f)]
    modules = [module for module in dict.fromkeys(imported) if importable(module)]
    is_async = any(map(is_coroutine_function, functions.values()))
    carried = pickle.dumps(state(is_async)) + pickle.dumps(modules)
    return carried + pickled({"functions": functions, **rest})


class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """cloudpickle, extended to objects that Python pickles only by name: `lru_cache` functions
    and `singledispatch` functions."""

    def reducer_override(self, value: Any) -> Any:
        name = getattr(value, "__module__", None)
        if isinstance(name, str) and name != "__main__" and callable(value):
            self.keep_or_copy(value, name)
        parts = parts_of(value)
        if parts is not None and not by_path(value):
            make, arguments, state = parts
            # The state is set last, because the function may refer to the object made from it.
            return make, arguments, state, None, None, set_state
        usual = getattr(super(), "reducer_override", None)  # PyPy lacks it.
        return NotImplemented if usual is None else usual(value)

    def keep_or_copy(self, value: Any, name: str) -> None:
        """Sends the functions of a module by value if a fresh process could not import it."""
        module = sys.modules.get(name)
        if module is None or importable(name):
            return
        if isinstance(value, (types.FunctionType, type)):
            cloudpickle.register_pickle_by_value(module)
        elif isinstance(value, types.BuiltinFunctionType):
            raise CannotTravel(f"a fresh process cannot import its module, {name!r}")


def pickled(value: Any) -> bytes:
    file = io.BytesIO()
    Pickler(file).dump(value)
    return file.getvalue()


# CACHE is the type of `functools.lru_cache` functions (on PyPy, the type of functions). DISPATCHER
# is the code of `functools.singledispatch` functions.
CACHE = type(functools.lru_cache(len))
dispatcher: Any = functools.singledispatch(len)
DISPATCHER, DISPATCHER_PARTS = dispatcher.__code__, set(vars(dispatcher))
DISPATCH = dispatcher.dispatch.__code__


def parts_of(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None:
    """Returns how to copy a function that Python pickles only by name: a callable, its arguments,
    and the state of the copy. None for all other values. A copied cache is empty."""
    if is_cache(value):
        settings = value.cache_parameters()
        arguments = (value.__wrapped__, settings["maxsize"], settings["typed"])
        kept = {k: v for k, v in vars(value).items() if not k.startswith("cache_")}
        return make_cache, arguments, {"attributes": kept}
    if is_dispatcher(value):
        found = dict(value.registry)
        kept = {k: v for k, v in vars(value).items() if k not in DISPATCHER_PARTS}
        state = {"attributes": kept, "registered": found}
        return functools.singledispatch, (found.pop(object),), state
    if isinstance(value, functools.singledispatchmethod):
        found = dict(value.dispatcher.registry)
        found.pop(object)
        return functools.singledispatchmethod, (value.func,), {"registered": found}
    if isinstance(value, types.FunctionType) and value.__code__ is DISPATCH:
        # Since Python 3.13, bound `singledispatchmethod`s hold this function.
        registry = inspect.getclosurevars(value).nonlocals["registry"]
        return make_dispatch, (dict(registry),), {}
    if isinstance(value, functools.cached_property):
        # Until Python 3.11 it holds a lock, which cannot be pickled.
        kept = {k: v for k, v in vars(value).items() if k != "lock"}
        return functools.cached_property, (value.func,), {"attributes": kept}
    return None


def is_cache(value: Any) -> bool:
    return isinstance(value, CACHE) and {"cache_parameters", "__wrapped__"} <= vars(value).keys()


def is_dispatcher(value: Any) -> bool:
    return isinstance(value, types.FunctionType) and value.__code__ is DISPATCHER


def make_cache(function: Callable[..., Any], maxsize: int | None, typed: bool) -> Any:
    return functools.lru_cache(maxsize, typed)(function)


def make_dispatch(registry: dict[type, Callable[..., Any]]) -> Any:
    made = functools.singledispatch(registry.pop(object))
    set_state(made, {"registered": registry})
    return made.dispatch


def set_state(made: Any, state: dict[str, Any]) -> None:
    vars(made).update(state.get("attributes", {}))
    for kind, function in state.get("registered", {}).items():
        made.register(kind, function)


def blamed(function: Any, error: Exception, passed: tuple[Any, ...] = ()) -> str:
    """Names the part of a function, or of one that it calls, that cannot be sent, and a remedy."""
    passed = (*passed, function)
    for whence, value in held_by(function):
        why = failure_of(value)
        if why is None or any(value is before for before in passed):
            continue
        if isinstance(value, (types.FunctionType, CACHE)):
            return blamed(value, why, passed)
        return refusal(function, whence, value)
    name = getattr(function, "__qualname__", repr(function))
    return f"{name} cannot be sent to a fresh process ({in_one_line(error)}): {OTHERWISE}"


def failure_of(value: Any) -> Exception | None:
    try:
        pickled(value)
    except Exception as error:
        return error
    return None


def in_one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def refusal(function: Callable[..., Any], whence: str, value: Any) -> str:
    name = getattr(function, "__qualname__", repr(function))
    kind = type(value).__name__
    if isinstance(value, io.IOBase):
        kind, way_out = f"an open file, {kind}", "open it in the function or in `input`"
    else:
        way_out = WAYS_OUT.get(kind, OTHERWISE)
    return f"{name} uses {whence}, which cannot be sent to a fresh process ({kind}): {way_out}"


@functools.cache
def importable(module: str) -> bool:
    """Returns whether a fresh process would find a module; a test file need not be on the path."""
    top = module.partition(".")[0]
    return any(finder.find_spec(top, None) is not None for finder in sys.meta_path)


def without_arguments(function: Any) -> Any:
    """The function that a partial calls, or the function itself."""
    return function.func if isinstance(function, functools.partial) else function


def by_path(function: Callable[..., Any]) -> bool:
    """Returns whether a function is sent as its import path, and not by value."""
    function = without_arguments(function)
    name = getattr(function, "__module__", None)
    found: Any = sys.modules.get(name) if isinstance(name, str) else None
    if found is None or name == "__main__" or not importable(str(name)):
        return False
    for part in str(getattr(function, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    # Every access to a class method creates a new object, hence `==`.
    return found is function or (inspect.ismethod(found) and found == function)


def held_by(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """What a function reaches: variables around it, globals, defaults, arguments, its object."""
    yield from ((f"argument {n + 1}", v) for n, v in enumerate(getattr(function, "args", ())))
    inner: Any = getattr(function, "func", function)
    if is_cache(inner):
        inner = inner.__wrapped__
    if is_dispatcher(inner):
        yield from ((f"the function for {kind.__name__}", f) for kind, f in inner.registry.items())
        return
    if inspect.ismethod(inner):
        yield from attributes_of(inner.__self__)
        yield "its object", inner.__self__
        inner = inner.__func__
    if not inspect.isfunction(inner):
        if not isinstance(inner, type):
            yield from attributes_of(inner)
        return
    try:
        found = inspect.getclosurevars(inner)
    except ValueError:
        return  # A variable around it has no value yet.
    yield from ((f"the variable {name!r}", value) for name, value in found.nonlocals.items())
    yield from ((f"the global {name!r}", value) for name, value in found.globals.items())
    yield from (("a default value", value) for value in inner.__defaults__ or ())


def attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (type, types.ModuleType)):
        return
    for name, attribute in getattr(value, "__dict__", {}).items():
        yield f"the attribute {name!r} of its object", attribute


# The worker runs this and not the user's script, which would start the race again.
SCRIPT = """\
import sys
sys.path[:] = {path!r}
# The children of multiprocessing (spawn) run this file, too.
if __name__ == "__main__":
    import deadheat
    from deadheat._worker import serve_packed
    serve_packed({file!r})
"""


def script_for(file: str) -> str:
    """The text of a script that serves the packed functions of a file."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = [os.path.abspath(entry) for entry in sys.path]
    return SCRIPT.format(path=path if package in path else [*path, package], file=file)
