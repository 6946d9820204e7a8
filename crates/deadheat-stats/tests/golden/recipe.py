"""The samples that the reference values are computed from, as recipes that Rust can follow to the last bit.

5,000 values are not worth storing when eight numbers say how to make them. Only +, −, ×, ÷, √ and floor of doubles
are used, in a fixed order: IEEE 754 rounds them alike everywhere. `recipe.rs` is the same recipe.
"""

import json
from pathlib import Path

import numpy as np

GOLDEN_RATIO = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1

FAMILIES = ["bell", "skew", "spiky", "ties", "zeros", "tiny", "huge", "positive"]

SIZES = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 25, 33, 50, 64, 100, 150, 250, 500, 1000, 2000, 5000]


def uniform(seed, count):
    """`count` doubles in [0, 1) from SplitMix64."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed & MASK) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN_RATIO)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def sample(family, seed, n, shift):
    """`n` values of a family; each takes five uniform numbers."""
    u = uniform(seed, 5 * n).reshape(n, 5)
    bell = u[:, 0] + u[:, 1] + u[:, 2] + u[:, 3] - 2.0
    last = u[:, 4]
    if family == "bell":
        return bell + shift
    if family == "skew":
        return last * last / (1.001 - last) + shift
    if family == "spiky":
        return np.where(last < 0.02, bell * 0.01 + 5.0, bell * 0.01) + shift * 0.01
    if family == "ties":
        return np.floor(bell * 4.0 + shift * 4.0) / 4.0
    if family == "zeros":
        return np.where(last < 0.6, 0.0, bell + shift)
    if family == "tiny":
        return (bell + shift) * 1e-9
    if family == "huge":
        return (bell + shift) * 1e12
    if family == "positive":
        return 1000.0 * (1.0 + 0.1 * (bell + shift)) + 200.0 * last * last
    raise ValueError(family)


def cases(sizes=SIZES, families=FAMILIES, rounds=2):
    """Every size of every family `rounds` times: 352 cases when nothing else is asked for.

    A case makes a first sample of n values and a second one of m, shifted; where n = m they can be taken as pairs.
    """
    number = 0
    for n in sizes:
        for family in families:
            for turn in range(rounds):
                number += 1
                shift = [0.0, 0.1, -0.25, 1.0][number % 4]
                # Every other case is a pair of equal sizes.
                m = n if turn % 2 == 0 else sizes[(sizes.index(n) * 7 + number) % len(sizes)]
                yield {"family": family, "seed": number * 1000003, "n": n, "m": m, "shift": shift}


def first(case):
    return sample(case["family"], case["seed"], case["n"], 0.0)


def second(case):
    return sample(case["family"], case["seed"] ^ 0x5DEECE66D, case["m"], case["shift"])


def write(name, content):
    """Writes a golden file with one case per line, so that a change shows as a change of that case."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    (Path(__file__).parent / name).write_text(text.replace("},{", "},\n{").replace("],\"", "],\n\"") + "\n")
