"""Every block of docs/python.md, run in a fresh folder; `python tests/test_docs.py` writes what the
commands print into the document."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, environment

DOCUMENT = REPOSITORY / "docs/python.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Words that say how a race ended or what a machine is like, and may be others next time.
LEFT_OUT = ("warning:", "note:", "waiting for", "!")


def blocks() -> list[tuple[str, str]]:
    return BLOCK.findall(DOCUMENT.read_text())


def transcript(text: str) -> list[tuple[str, str]]:
    """Commands of a block, and what each printed."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2]))


def ran(command: str, folder: Path) -> str:
    # The package and the program are installed here already.
    command = command.replace("install -q path/to/deadheat/python ", "install -q ")
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    plain = {"PATH": path, "COLUMNS": "100", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    done = subprocess.run(
        ["bash", "-c", f"{command} 2>&1"],
        cwd=folder,
        env=environment(**plain),
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [line.rstrip() for line in done.stdout.replace(f"{folder}/", "").splitlines()]
    return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""


def words(printed: str) -> set[str]:
    """The words of an answer that every race which tells the same story has."""
    kept = []
    # The file of a run stands in the paragraph before it, which may be a warning.
    printed = re.sub(r"^ *(recorded in )?\.deadheat/.*$", "", printed, flags=re.MULTILINE)
    for paragraph in printed.split("\n\n"):
        if not paragraph.strip().startswith(LEFT_OUT):
            kept += re.findall(r"[a-z_]{4,}", paragraph)
    return set(kept)


def write_files(folder: Path) -> None:
    for kind, text in blocks():
        named = re.match(r"# (\S+\.py)\n", text)
        if kind == "python" and named:
            (folder / named[1]).write_text(text)


def test_every_python_block_has_the_name_of_its_file():
    assert all(text.startswith("# ") for kind, text in blocks() if kind == "python")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    write_files(folder)
    return folder


TRANSCRIPTS = [text for kind, text in blocks() if kind == "text"]


@pytest.mark.parametrize("text", TRANSCRIPTS, ids=[text.split("\n")[0] for text in TRANSCRIPTS])
def test_every_command_of_the_document_prints_what_is_shown(text, folder):
    for command, shown in transcript(text):
        printed = ran(command, folder)
        if "pip install" in command and printed:
            pytest.skip(f"no packages to be had: {printed}")
        assert "Traceback" not in printed, printed
        # The story may end otherwise on a loud machine; most of the words are there in any case.
        missing = words(shown) - words(printed)
        assert len(missing) <= len(words(shown)) / 3, f"{command} lacks {missing}:\n{printed}"


def bless(folder: Path) -> None:
    def rerun(found: re.Match[str]) -> str:
        if found[1] != "text":
            return found[0]
        shown = "".join(
            f"$ {command}\n{ran(command, folder)}" for command, _ in transcript(found[2])
        )
        return f"```text\n{shown}```"

    write_files(folder)
    DOCUMENT.write_text(BLOCK.sub(rerun, DOCUMENT.read_text()))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        bless(Path(scratch))
