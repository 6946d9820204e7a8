"""What a benchmark is made of: which changes of a suite concern which of its tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deadheat._sources import Sources

SUITE = {
    "conftest.py": "import pytest\n",
    "bench/__init__.py": "",
    "bench/helpers.py": "SIZE = 10\n",
    "bench/unused.py": "",
    "bench/test_a.py": """
from .helpers import SIZE
WORDS: list[str] = []
def benchmark_input(): return SIZE
def test_one(benchmark): benchmark(sum, benchmark_input())
def test_two(benchmark): benchmark(len, WORDS)
class TestGroup:
    def test_three(self, benchmark): benchmark(len, [])
    def test_four(self, benchmark): benchmark(len, [])
""",
}


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in SUITE.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    names = [name for name in sys.modules if name.partition(".")[0] == "bench"]
    for name in names:
        monkeypatch.delitem(sys.modules, name)
    __import__("bench.test_a")
    return tmp_path


def sources(suite: Path, *names: str) -> dict[str, set[str]]:
    told = Sources(str(suite)).of_test(suite / "bench/test_a.py", names, suite)
    return {name: set(digests) for name, *digests in told}


def changed(suite: Path, path: str, old: str, new: str) -> set[str]:
    """The tests that this change concerns."""
    tests = {
        "one": ("test_one",),
        "two": ("test_two",),
        "three": ("TestGroup", "test_three"),
        "four": ("TestGroup", "test_four"),
    }
    before = {name: sources(suite, *inner) for name, inner in tests.items()}
    file = suite / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    after = {name: sources(suite, *inner) for name, inner in tests.items()}

    def differs(name: str) -> bool:
        both = before[name], after[name]
        if both[0].keys() != both[1].keys():
            return True
        return any(not both[0][path] & both[1][path] for path in both[0])

    return {name for name in tests if differs(name)}


def test_a_test_is_made_of_its_file_the_conftests_and_what_it_imports(suite: Path) -> None:
    expected = {"conftest.py", "bench/__init__.py", "bench/helpers.py", "bench/test_a.py"}
    assert sources(suite, "test_one").keys() == expected


def test_a_changed_test_concerns_itself_alone(suite: Path) -> None:
    assert changed(suite, "bench/test_a.py", "benchmark(len, WORDS)", "benchmark(len, [])") == {
        "two"
    }


def test_a_changed_method_concerns_itself_alone(suite: Path) -> None:
    old = "def test_four(self, benchmark): benchmark(len, [])"
    new = "def test_four(self, benchmark): benchmark(len, [1])"
    assert changed(suite, "bench/test_a.py", old, new) == {"four"}


def test_a_helper_named_like_a_test_concerns_those_who_use_it(suite: Path) -> None:
    assert changed(suite, "bench/test_a.py", "return SIZE", "return SIZE + 1") == {"one"}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("bench/test_a.py", "list[str] = []", "list[str] = ['a']"),
        ("bench/helpers.py", "10", "11"),
        ("conftest.py", "import pytest", "import sys"),
    ],
)
def test_what_tests_share_concerns_them_all(suite: Path, path: str, old: str, new: str) -> None:
    assert changed(suite, path, old, new) == {"one", "two", "three", "four"}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("bench/test_a.py", "WORDS: list", "# A comment.\nWORDS:  list"),
        ("bench/test_a.py", "class TestGroup", "def test_new(benchmark): ...\nclass TestGroup"),
        ("bench/unused.py", "", "x = 1"),
    ],
)
def test_comments_new_tests_and_strange_files_concern_none(
    suite: Path, path: str, old: str, new: str
) -> None:
    assert changed(suite, path, old, new) == set()


def test_a_benchmark_of_a_file_is_made_of_its_own_functions(tmp_path: Path) -> None:
    file = tmp_path / "bench_mine.py"

    def digests(text: str, own: str) -> set[str]:
        file.write_text(text)
        ((_, *found),) = Sources(str(tmp_path)).of_function(file, {own}, {"a", "b"})
        return set(found)

    old, new = "def a(): return 1\ndef b(): return 2\n", "def a(): return 1\ndef b(): return 3\n"
    assert digests(old, "a") & digests(new, "a")
    assert not digests(old, "b") & digests(new, "b")
