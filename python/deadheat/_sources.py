"""Digests of the source of a benchmark and of the files of its suite.

Imported only to list benchmarks. A file has two digests: one of all its bytes, and one of its parts
that concern a benchmark, without comments and other benchmarks. Two versions of a file are alike if
either digest agrees, so the second digest may depend on the version of Python.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

Source = list[str]
# A folder holds tests or benchmarks if a word of its name is in FOLDERS or starts with BEGINNING.
FOLDERS, BEGINNING = ("test", "tests", "perf", "performance"), "bench"
# Names of tests start with one of these.
TESTS = ("test", "bench", "Test", "Bench")
DIGITS = 16


class File:
    """A module of a suite."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        self.whole = digest(data)
        try:
            self.tree = ast.parse(data)
        except (SyntaxError, ValueError):
            self.tree = ast.Module([], [])


class Sources:
    """The files of a suite; reads each file only once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._files: dict[Path, File | None] = {}
        self._modules: dict[Path, str] | None = None

    def file(self, path: Path) -> File | None:
        if path not in self._files:
            try:
                self._files[path] = File(path)
            except OSError:
                self._files[path] = None
        return self._files[path]

    def of_test(self, path: Path, names: Sequence[str], root: Path) -> list[Source]:
        """The sources of a test; `names` are its class and function, `root` is the rootdir."""
        file = self.file(path)
        if file is None:
            return []
        own = kept(file.tree.body, names)
        found = {path: self.told(path, file, own)}
        suite = suite_folder(path, root)
        waiting = [(path, own)]
        for folder in [path.parent, *path.parents]:
            conftest = self.file(folder / "conftest.py")
            if conftest is not None and folder / "conftest.py" not in found:
                found[folder / "conftest.py"] = self.told(folder / "conftest.py", conftest, None)
                waiting.append((folder / "conftest.py", conftest.tree.body))
            if folder == root:
                break
        while waiting:
            importer, nodes = waiting.pop()
            for module in self.imported(importer, nodes):
                imported = self.file(module)
                inside = suite is not None and suite in module.parents
                if imported is not None and inside and module not in found:
                    found[module] = self.told(module, imported, None)
                    waiting.append((module, imported.tree.body))
        return sorted(found.values())

    def of_function(self, path: Path, own: Iterable[str], others: Iterable[str]) -> list[Source]:
        """The source of one benchmark in a file, without the functions of the other benchmarks."""
        file = self.file(path)
        if file is None:
            return []
        left_out = set(others) - set(own)
        nodes = without(file.tree.body, lambda node: name_of(node) in left_out)
        return [self.told(path, file, nodes)]

    def told(self, path: Path, file: File, nodes: list[ast.stmt] | None) -> Source:
        # A relative path, because the two sides are in different folders.
        name = os.path.relpath(path, self.folder)
        dumped = "".join(map(ast.dump, file.tree.body if nodes is None else nodes))
        return [name, file.whole, digest(dumped.encode())]

    def imported(self, importer: Path, nodes: Iterable[ast.stmt]) -> Iterator[Path]:
        """The files of the modules that these statements import."""
        own = self.modules().get(importer, "")
        package = own if importer.name == "__init__.py" else own.rpartition(".")[0]
        for node in (inner for outer in nodes for inner in ast.walk(outer)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [name for alias in node.names for name in packages(alias.name)]
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
                    base = ".".join([*parts, *([base] if base else [])])
                names = [*packages(base), *(f"{base}.{alias.name}" for alias in node.names)]
            for name in names:
                file = getattr(sys.modules.get(name), "__file__", None)
                if file is not None:
                    yield Path(file)

    def modules(self) -> dict[Path, str]:
        """The names of the imported modules, by file."""
        if self._modules is None:
            files = ((getattr(module, "__file__", None), name) for name, module in modules())
            self._modules = {Path(file): name for file, name in files if file is not None}
        return self._modules


def modules() -> list[tuple[str, object]]:
    return [(name, module) for name, module in list(sys.modules.items()) if name != "__main__"]


def packages(module: str) -> list[str]:
    """The names of a module and of its parent packages, which its import imports as well."""
    parts = module.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


def suite_folder(path: Path, root: Path) -> Path | None:
    """The outermost test folder between the rootdir and a test: all modules in it belong to the
    suite. In any other folder, a module next to a test may belong to the library."""
    try:
        parts = path.relative_to(root).parts[:-1]
    except ValueError:
        return None
    for count, name in enumerate(parts, 1):
        words = name.lower().replace("-", "_").split("_")
        if any(word in FOLDERS or word.startswith(BEGINNING) for word in words):
            return root.joinpath(*parts[:count])
    return None


def kept(nodes: list[ast.stmt], names: Sequence[str]) -> list[ast.stmt]:
    """The statements of a module or of a test class, without the tests not in `names`."""
    own, inner = (names[0], names[1:]) if names else ("", ())
    nodes = without(nodes, lambda node: name_of(node) != own and name_of(node).startswith(TESTS))
    found: list[ast.stmt] = []
    for node in nodes:
        if isinstance(node, ast.ClassDef) and node.name == own and inner:
            fields = {name: getattr(node, name) for name in node._fields}
            node = ast.ClassDef(**{**fields, "body": kept(node.body, inner)})
        found.append(node)
    return found


def without(nodes: list[ast.stmt], is_left_out: Callable[[ast.stmt], bool]) -> list[ast.stmt]:
    """The statements without those that are left out, except the ones that others use."""
    left_out = [node for node in nodes if is_left_out(node)]
    used: set[str] = set()
    waiting = [node for node in nodes if node not in left_out]
    while waiting:
        for node in ast.walk(waiting.pop()):
            name = used_name(node)
            if name is not None and name not in used:
                used.add(name)
                waiting += [other for other in left_out if name_of(other) == name]
    return [node for node in nodes if node not in left_out or name_of(node) in used]


def used_name(node: ast.AST) -> str | None:
    """The name that a node may use: a variable, or a fixture (as an argument or a string)."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[attr-defined]


def name_of(node: ast.stmt) -> str:
    is_named = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    return node.name if is_named else ""  # type: ignore[attr-defined]


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:DIGITS]
