"""The program `deadheat`, which the wheel brings along: where it is, and how it is run."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence

from deadheat._errors import ProgramNotFound, RaceFailed, UsageError
from deadheat._settings import error_in_python_words

NAME = "deadheat.exe" if sys.platform == "win32" else "deadheat"
# Seconds that deadheat has to clean up when it is interrupted.
PATIENCE = 10


def find_program() -> str:
    """Returns the path of the program: that beside this Python, or else that on PATH."""
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    folders = [sysconfig.get_path("scripts", scheme) for scheme in schemes]
    # `pip install --target DIR` puts it below the packages.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in folders:
        path = os.path.join(folder, NAME)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    path_found = shutil.which(NAME)
    if path_found is None:
        looked = ", ".join(dict.fromkeys(folders))
        raise ProgramNotFound(
            f"the program 'deadheat' is neither in {looked} nor on PATH; "
            "install the package deadheat, which contains it (docs/python.md)"
        )
    return path_found


def quoted(words: Sequence[str]) -> str:
    """The words of a command as one, as `deadheat bench` takes it."""
    return shlex.join(words)


def run(arguments: Sequence[str], folder: str) -> str:
    """Runs the program on files in a folder and returns what it prints.

    Raises `UsageError` if the program refuses its arguments, and `RaceFailed` for other failures.
    Forwards a Ctrl-C to the program and waits for it, so that no process or file is left. If this
    process is killed, the kernel closes the pipe that the program reads as standard input; the
    program then removes the folder and ends.
    """
    program = find_program()
    alive, held = os.pipe()
    try:
        # DEADHEAT_OWNER names this process and the folder, which the program removes with it.
        process = subprocess.Popen(
            [program, *arguments],
            stdin=alive,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "DEADHEAT_OWNER": f"{os.getpid()}:{folder}"},
            # So that a Ctrl-C in the terminal reaches only this process.
            start_new_session=True,
        )
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(alive)
    try:
        answer, said = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        raise
    finally:
        os.close(held)
    if process.returncode == 2:
        raise UsageError(error_in_python_words(said))
    # 1: a gate failed, but the result is complete.
    if process.returncode not in (0, 1) and not answer:
        words = error_in_python_words(said) or ended_by(process.returncode)
        # This file loads the functions in a worker; the user has never seen it.
        raise RaceFailed(words.replace(f"'{folder}{os.sep}race.py'", "the worker process"))
    return answer


def ended_by(code: int) -> str:
    if code >= 0:
        return f"the program deadheat ended with exit code {code}"
    return f"the program deadheat was killed by {signal.Signals(-code).name}"
