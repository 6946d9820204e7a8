"""A race spread over a Ray cluster: a part on each node, one answer.

    python race.py --parts 6 --pack race.tar.zst
    python race.py --parts 6 --max-replicates 120 -- './old input' './new input'

Every word that is not an option here is one of `deadheat run`. All nodes must have `deadheat`, and
without a pack the programs and their inputs; the pack and the parts travel through Ray. A part that was lost with its
node is raced again; one that failed for a reason that another try will not mend ends the race.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import ray

# Exit codes of deadheat: a contender failed, and what the command line or a file holds is wrong.
NO_TRY_HELPS = (2, 3, 4)


class PartFailed(Exception):
    """A part that ended with another code than 0, which another try may mend."""


@ray.remote(max_retries=3, retry_exceptions=[PartFailed], scheduling_strategy="SPREAD")
def race(part, parts, pack, words):
    """Races one part in a folder of its own; gives back its code, its run file and its last words."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "part.jsonl")
        shard = ["--shard", f"{part}/{parts}", "--save", str(file)]
        if pack:
            packed = pathlib.Path(folder, "race.tar.zst")
            packed.write_bytes(pack)
            # The user who started this program gave it the pack.
            shard += ["--plan", str(packed), "--trust"]
        done = subprocess.run(
            ["deadheat", "run", "-q", *shard, *words], capture_output=True, text=True
        )
        if done.returncode != 0 and done.returncode not in NO_TRY_HELPS:
            raise PartFailed(f"part {part} ended with {done.returncode}: {done.stderr}")
        held = file.read_bytes() if file.exists() else b""
        return done.returncode, held, done.stderr


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--parts", type=int, default=6)
    options.add_argument("--pack")
    options.add_argument("--seed", default="1")
    options.add_argument("--save", default="whole.jsonl")
    known, words = options.parse_known_args()

    ray.init(log_to_driver=False)
    pack = None
    if known.pack:
        # The plan has the seed.
        pack = ray.put(pathlib.Path(known.pack).read_bytes())
    else:
        words = ["--seed", known.seed, *words]
    # The whole of a node for each part: nobody else's work beside it.
    cores = max(int(node["Resources"].get("CPU", 1)) for node in ray.nodes() if node["Alive"])
    whole = race.options(num_cpus=cores)
    waiting = {
        whole.remote(part, known.parts, pack, words): part
        for part in range(1, known.parts + 1)
    }
    with tempfile.TemporaryDirectory() as folder:
        files = []
        while waiting:
            [ready], _ = ray.wait(list(waiting))
            part = waiting.pop(ready)
            code, held, said = ray.get(ready)
            if code != 0:
                sys.exit(f"part {part} ended with {code}: {said}")
            file = os.path.join(folder, f"part-{part}.jsonl")
            pathlib.Path(file).write_bytes(held)
            files.append(file)
        merged = subprocess.run(["deadheat", "merge", *files, "--save", known.save])
    sys.exit(merged.returncode)


if __name__ == "__main__":
    main()
