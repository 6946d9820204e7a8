"""The answer of a race."""

from __future__ import annotations

import csv
import os
import tempfile
from collections import defaultdict
from html import escape
from math import exp, log
from statistics import median
from types import SimpleNamespace
from typing import Any, Literal

from deadheat._errors import RaceFailed
from deadheat._program import run
from deadheat._settings import in_python_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pandas
    import pyarrow

Verdict = Literal["faster", "slower", "equivalent", "inconclusive"]

# The columns of the table of samples that hold strings.
TEXTS = {"benchmark", "contender", "role", "flags"}
# Pixels of the plot, and those at its left and right that stay empty.
WIDTH, HEIGHT, EDGE = 460, 76, 14
COLOURS = {"faster": "#1a7f37", "slower": "#cf222e", "equivalent": "#57606a"}
OPEN = "#9a6700"
# Changes beyond this share lead with a factor, and increases from the second one on are factors
# everywhere, as the program shows them.
LEADS_FROM, FACTORS_FROM = 0.25, 9.0


class Side(SimpleNamespace):
    """One side of a race: times of a call in nanoseconds, and the number of its samples."""

    name: str
    typical: float | None
    median: float
    mean: float
    min: float
    max: float
    stddev: float | None
    samples: int


class Samples(list[dict[str, Any]]):
    """Every sample of a race, a dict by the columns of tidy CSV; times are nanoseconds of the whole
    sample, which has `iterations` calls."""

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a `pandas.DataFrame`, a row per sample."""
        import pandas

        return pandas.DataFrame(list(self))

    def to_arrow(self) -> pyarrow.Table:
        """Returns a `pyarrow.Table`, a row per sample."""
        import pyarrow

        return pyarrow.Table.from_pylist(list(self))


class Result:
    """The answer of a race.

    verdict: the verdict about the candidate: `"faster"`, `"slower"`, `"equivalent"` (a dead heat)
        or `"inconclusive"` (too close to call), or None if the data allow no verdict.
    change: the time of the candidate divided by that of the baseline, minus 1: −0.131 means 13.1%
        less time. None without an estimate.
    interval: the ends of the confidence interval of the change, or None.
    margin: the smallest change worth acting on, a fraction.
    replicates: the number of fresh processes that were compared.
    provisional: whether the verdict is provisional, the weaker kind.
    baseline, candidate: the two sides, with their times per call in nanoseconds.
    samples: every sample, with the time of the whole sample in nanoseconds.
    warnings: doubts and notes, as sentences.
    json: everything, as docs/formats.md describes it.
    """

    def __init__(self, answer: dict[str, Any], samples: Samples, record: bytes) -> None:
        if not answer["benchmarks"]:
            raise RaceFailed("the race ended before there was anything to judge")
        told = answer["benchmarks"][0]
        self.json = answer
        self.samples = samples
        self.name: str = told["benchmark"]
        self.verdict: Verdict | None = told["verdict"]
        self.provisional: bool = told["provisional"]
        self.change: float | None = told["change"]
        self.interval: tuple[float, float] | None = told["ci"] and (told["ci"][0], told["ci"][1])
        self.margin: float = told["margin"]
        self.replicates: int | None = told["replicates"]
        self.baseline = Side(**told["baseline"])
        self.candidate = Side(**told["candidate"])
        self.warnings = [in_python_words(warning["message"]) for warning in told["warnings"]]
        self._coverage: float | None = told["coverage"]
        self._record = record
        self._text: str | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the run file, which `deadheat analyze` and `deadheat report` read."""
        with open(path, "wb") as file:
            file.write(self._record)

    def page(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with every plot, figure and warning: one file, nothing loaded."""
        self._ask("analyze", ["--html", os.path.abspath(path)])

    def __str__(self) -> str:
        """The answer as the program prints it."""
        if self._text is None:
            self._text = self._ask("analyze", []).strip("\n")
        return self._text

    def __repr__(self) -> str:
        return f"<Result {self.sentence}>"

    def _ask(self, command: str, options: list[str]) -> str:
        with tempfile.TemporaryDirectory(prefix="deadheat-") as folder:
            file = os.path.join(folder, "race.jsonl")
            self.save(file)
            told = run([command, file, "--no-config", "--color=never", *options], folder)
        lines = [line for line in told.splitlines() if folder not in line]
        return in_python_words("\n".join(lines))

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        one, other = repr(self.candidate.name), repr(self.baseline.name)
        if self.change is None or self.interval is None or self.verdict is None:
            return f"{one} against {other}: no verdict"
        between = f"{100 * (self._coverage or 0):g}% CI {' to '.join(map(percent, self.interval))}"
        change = percent(self.change)
        said = f"{one} is {self.verdict} than {other}: {change} time"
        if self.verdict == "equivalent":
            said = f"dead heat: {one} and {other} differ by less than {100 * self.margin:g}%"
            between = f"{change} time, {between}"
        elif self.verdict == "inconclusive":
            said = f"too close to call: {one} against {other}, {change} time"
        elif self.change < -LEADS_FROM:
            said = f"{one} is {times(1 / (1 + self.change))} as fast as {other}"
            between = f"{change} time, {between}"
        elif self.change > LEADS_FROM:
            said = f"{one} is slower than {other}: {times(1 + self.change)} the time"
            if self.change < FACTORS_FROM:
                between = f"{change}, {between}"
        return f"{'provisional: ' if self.provisional else ''}{said} ({between})"

    def _repr_html_(self) -> str:
        colour = COLOURS.get(self.verdict or "", OPEN)
        doubts = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        more = f"<details><summary>Notes</summary><ul>{doubts}</ul></details>"
        return (
            f'<div style="font-family: sans-serif"><b style="color: {colour}">'
            f"{escape(self.sentence)}</b><br>{self._svg(colour)}{more if doubts else ''}</div>"
        )

    def effects(self) -> list[float]:
        """The change of every replicate, of the medians of its samples: candidate/baseline − 1."""
        column = "gpu_ns" if self.json["benchmarks"][0].get("metric") == "gpu" else "wall_ns"
        times: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row in self.samples:
            if row[column]:
                per_call = row[column] / row["iterations"]
                times[row["replicate"]][row["role"]].append(log(per_call))
        return [
            exp(median(sides["candidate"]) - median(sides["baseline"])) - 1
            for _, sides in sorted(times.items())
            if len(sides) == 2
        ]

    def _svg(self, colour: str) -> str:
        """A dot for every replicate above the interval, over an axis in percent."""
        if self.interval is None or self.change is None:
            return ""
        low, high = self.interval
        dots = self.effects()
        reach = [*dots, low, high, -self.margin, self.margin]
        least, most = min(reach), max(reach)

        def at(change: float) -> str:
            return f"{EDGE + (WIDTH - 2 * EDGE) * (change - least) / (most - least):.1f}"

        marks = "".join(
            f'<circle cx="{at(dot)}" cy="{14 + 5 * (place % 3)}" r="2.5" fill="{colour}" '
            f'fill-opacity="0.45"/>'
            for place, dot in enumerate(dots)
        )
        label = escape(f"{self.name}: {self.sentence}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'role="img" font-family="sans-serif" font-size="10"><title>{label}</title>'
            f'<line x1="{at(0)}" y1="4" x2="{at(0)}" y2="54" stroke="#8c959f" '
            f'stroke-dasharray="3 3"/>{marks}'
            f'<line x1="{at(low)}" y1="42" x2="{at(high)}" y2="42" stroke="{colour}" '
            f'stroke-width="3"/><circle cx="{at(self.change)}" cy="42" r="5" fill="{colour}"/>'
            f'<line x1="{EDGE}" y1="54" x2="{WIDTH - EDGE}" y2="54" stroke="#8c959f"/>'
            f'<text x="{EDGE}" y="68" fill="#57606a">{percent(least)}</text>'
            f'<text x="{WIDTH - EDGE}" y="68" text-anchor="end" fill="#57606a">{percent(most)}'
            f"</text></svg>"
        )


def times(factor: float) -> str:
    """A factor to three digits or to the whole."""
    digits = 2 if factor < 10 else 1 if factor < 100 else 0
    return f"{factor:.{digits}f}×"


def percent(change: float) -> str:
    """A change in percent with its sign, to three digits or to hundredths; a tenfold time or more
    as a factor."""
    if change >= FACTORS_FROM:
        return times(1 + change)
    value = 100 * change
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:+.{digits}f}%".replace("-", "−")


def rows_of(file: str) -> Samples:
    """The rows of a tidy CSV file, numbers as numbers; a cell that is empty is None."""
    with open(file, newline="", encoding="utf-8") as table:
        return Samples(
            {name: cell if name in TEXTS else number(cell) for name, cell in row.items()}
            for row in csv.DictReader(table)
        )


def number(cell: str) -> float | int | None:
    if not cell:
        return None
    return int(cell) if cell.isdigit() else float(cell)
