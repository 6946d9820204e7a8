"""Finds changes made to modules at run time, which workers lack because they import from disk.

The process that calls `race` records the objects behind the names that the functions use. The
pilot's worker looks up the same names and reports those that refer to a different object.
"""

from __future__ import annotations

import sys
import types
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Reached = dict[str, dict[str, str]]

# The most names that are looked up, nearest first, and the most names in a note.
MOST_NAMES, MOST_TOLD = 2_000, 4
# Notebooks and tests change these for their own purposes, such as capturing output.
PASSED_OVER = {"__main__", "sys", "builtins", "unittest.mock"}
CONSTANTS = (bool, int, float, str, bytes, tuple, frozenset)
# Instances count as different only if both processes have an instance under the name.
INSTANCE = "instance of "
MISSING = object()


def reached(functions: Iterable[Any], importable: Callable[[str], bool]) -> Reached:
    """The objects that functions use from importable modules: `{module: {name: description}}`."""
    return Walk(functions, importable).found


class Walk:
    """A breadth-first walk from functions to the objects that they use."""

    def __init__(self, functions: Iterable[Any], importable: Callable[[str], bool]) -> None:
        self.found: Reached = {}
        self._importable = importable
        self._known: dict[str, bool] = {}
        self._seen: set[int] = set()
        self._count = 0
        self._ahead: deque[tuple[Any, frozenset[str]]] = deque()
        for function in functions:
            self._ahead.append((function, frozenset()))
        while self._ahead and self._count < MOST_NAMES:
            try:
                self._visit(*self._ahead.popleft())
            except Exception:
                continue  # A proxy whose target is not available now.

    def _visit(self, value: Any, names: frozenset[str]) -> None:
        """Follows a value; `names` are the names in the code that uses it."""
        if isinstance(value, types.ModuleType):
            for name in sorted(names & vars(value).keys()):
                self._found(value.__name__, name, vars(value)[name], names)
            return
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, types.FunctionType):
            self._visit_function(value)
        elif isinstance(value, type):
            self._visit_class(value)
        elif isinstance(value, types.MethodType):
            self._ahead += [(value.__func__, names), (type(value.__self__), names)]
        elif hasattr(value, "func") and hasattr(value, "args"):
            self._ahead.append((value.func, names))
        elif hasattr(value, "__wrapped__"):
            self._ahead.append((value.__wrapped__, names))
        elif not isinstance(value, (*CONSTANTS, list, dict, set, types.BuiltinFunctionType)):
            self._ahead.append((type(value), names))

    def _visit_function(self, function: types.FunctionType) -> None:
        names = frozenset(names_of(function.__code__))
        module = function.__globals__.get("__name__", "")
        for name in sorted(names):
            if name in function.__globals__:
                self._found(module, name, function.__globals__[name], names)
            elif name in sys.modules:  # A module that the function imports itself.
                self._ahead.append((sys.modules[name], names))
        for cell in function.__closure__ or ():
            try:
                self._ahead.append((cell.cell_contents, names))
            except ValueError:
                continue

    def _visit_class(self, kind: type) -> None:
        for each in kind.__mro__:
            for name, value in list(vars(each).items()):
                inner = plain(value)
                if isinstance(inner, types.FunctionType):
                    self._found(each.__module__, f"{each.__qualname__}.{name}", inner, frozenset())

    def _found(self, module: str, name: str, value: Any, names: frozenset[str]) -> None:
        self._count += 1
        # The worker can look up an object only by the name under which its module has it.
        if self._imports(module) and looked_up(module, name) is value:
            what = described(name.rpartition(".")[2], value)
            if what is not None:
                self.found.setdefault(module, {})[name] = what
        if type(value).__module__ != "unittest.mock":
            self._ahead.append((value, names))

    def _imports(self, module: str) -> bool:
        """Returns whether a worker imports a module from disk."""
        if module not in self._known:
            known = module in sys.modules and module not in PASSED_OVER
            self._known[module] = known and self._importable(module)
        return self._known[module]


def names_of(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in code and in the functions nested in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)


def plain(value: Any) -> Any:
    """The plain function of a static method, class method or property."""
    for name in ("__func__", "fget"):
        value = getattr(value, name, value)
    return value


def described(name: str, value: Any) -> str | None:
    """Describes the object behind a name, in the same words in every process. None if the
    description could differ between processes."""
    if isinstance(value, types.FunctionType):
        code = value.__code__
        registry = getattr(value, "registry", None)
        more = f" {keys_of(registry)}" if registry is not None else ""
        return f"function {path_of(value)} {code.co_filename}:{code.co_firstlineno}{more}"
    if isinstance(value, type):
        return f"class {path_of(value)}"
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, types.BuiltinFunctionType):
        return f"builtin {path_of(value)}"
    if isinstance(value, CONSTANTS):
        return f"{value!r}"[:200] if name.isupper() else None
    if isinstance(value, (list, dict)):
        return registry_of(value)
    return None if value is None else f"{INSTANCE}{path_of(type(value))}"


def registry_of(value: list[Any] | dict[Any, Any]) -> str | None:
    """Describes a container whose entries are all callable; None for other containers."""
    entries = list(value.values()) if isinstance(value, dict) else value
    if not entries or not all(map(callable, entries)):
        return None
    return f"registry {keys_of(value)}"


def keys_of(registry: Any) -> list[str]:
    return sorted(path_of(key) if callable(key) else repr(key) for key in registry)


def path_of(value: Any) -> str:
    kind = value if hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def differences(expected: Reached) -> list[str]:
    """One note for every module whose objects differ from the expected ones."""
    notes = []
    for module, names in expected.items():
        if module not in sys.modules:
            continue
        changed = [name for name, what in names.items() if differs(module, name, what)]
        if changed:
            told = ", ".join(f"{module}.{name}" for name in changed[:MOST_TOLD])
            if len(changed) > MOST_TOLD:
                told += f" and {len(changed) - MOST_TOLD} more"
            notes.append(
                f"module `{module}` was changed at run time ({told}); the workers have the "
                "original."
            )
    return notes


def differs(module: str, name: str, what: str) -> bool:
    value = looked_up(module, name)
    if value is MISSING:
        return not what.startswith(INSTANCE)
    own = described(name.rpartition(".")[2], value)
    return own is not None and own != what


def looked_up(module: str, name: str) -> Any:
    """The object behind a name of a module, or of a class in it, in this process."""
    value: Any = sys.modules[module]
    for part in name.split("."):
        try:
            value = vars(value)[part]
        except (KeyError, TypeError):
            return MISSING
    return plain(value) if "." in name else value
