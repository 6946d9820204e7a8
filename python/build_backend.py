"""The build backend of `pip install ./python`: maturin, which compiles the program `deadheat`.

It prints what it does and leaves one core to the user. If the clone has already built the program,
it uses the same cargo profile, so that cargo compiles only what has changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

Settings = dict[str, Any]

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The cargo profiles, also the names of their target folders, fastest program first. If none is
# built, the last is used, because `dist` takes three times as long to compile.
PROFILES = ("dist", "release")
ARGUMENTS = "MATURIN_PEP517_ARGS"


def __getattr__(name: str) -> Any:
    """Takes all other hooks from maturin."""
    if not name.startswith(("build_", "get_requires_", "prepare_metadata_")):
        raise AttributeError(name)
    import maturin

    return getattr(maturin, name)


def build_wheel(folder: str, settings: Settings | None = None, metadata: str | None = None) -> str:
    import maturin

    prepare(settings)
    return str(maturin.build_wheel(folder, settings, metadata))


def build_editable(
    folder: str, settings: Settings | None = None, metadata: str | None = None
) -> str:
    import maturin

    prepare(settings)
    return str(maturin.build_editable(folder, settings, metadata))


def prepare(settings: Settings | None) -> None:
    """Chooses the profile and the number of jobs unless the user has set them."""
    built = [name for name in PROFILES if os.path.isfile(program_of(name))]
    if not (settings or {}).keys() & {"build-args", "maturin.build-args"}:
        os.environ.setdefault(ARGUMENTS, f"--profile {[*built, PROFILES[-1]][0]}")
    jobs = os.environ.setdefault("CARGO_BUILD_JOBS", str(max(1, cores() - 1)))
    takes = (
        "seconds if nothing has changed since the last build" if built else "two to nine minutes"
    )
    say(f"deadheat: cargo compiles the program, {jobs} crates at a time; this takes {takes}\n")


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def program_of(profile: str) -> str:
    return os.path.join(target_folder(), profile, "deadheat")


def target_folder() -> str:
    """The folder into which cargo builds."""
    asked = ["cargo", "metadata", "--no-deps", "--offline", "--format-version=1"]
    try:
        import json

        told = subprocess.run(asked, cwd=REPOSITORY, capture_output=True, check=True)
        return str(json.loads(told.stdout)["target_directory"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return os.path.join(REPOSITORY, "target")


def say(words: str) -> None:
    """Prints to the terminal if there is one, because pip hides the output of builds."""
    try:
        with open("/dev/tty", "w") as terminal:
            terminal.write(words)
    except OSError:
        print(words, end="", file=sys.stderr)
