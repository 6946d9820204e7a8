"""`python -m deadheat …` runs the program."""

import os
import subprocess
import sys

from deadheat._errors import ProgramNotFound
from deadheat._program import find_program


def main() -> int:
    try:
        program = find_program()
    except ProgramNotFound as error:
        print(f"deadheat: {error}", file=sys.stderr)
        return 3
    if sys.platform == "win32":
        return subprocess.call([program, *sys.argv[1:]])
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
