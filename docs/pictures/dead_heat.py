"""Draws docs/pictures/dead_heat.svg from a real run: hyperfine with Welch's test, and deadheat, on a
program and its copy. Needs cc, hyperfine and deadheat in PATH; `just picture` calls it.

hyperfine runs with its defaults until Welch's test calls the two copies different, at most ten times;
the picture says how often it was run. deadheat runs once, after it. Headings say whose lines are below.
"""

import html
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <stdint.h>
int main(void) {
    uint64_t x = 88172645463325252u;
    for (long i = 0; i < 12000000; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    return x == 0;
}
"""
COLUMNS = 80
MOST_RUNS = 10
LEFT, TOP, LINE_HEIGHT, CHARACTER = 18, 14, 19, 8.42


def run(command: str, folder: str) -> str:
    env = dict(os.environ, COLUMNS=str(COLUMNS), LC_ALL="C.UTF-8", NO_COLOR="1")
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 300):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            value *= c * d
    return front * value / a


def welch(x: list[float], y: list[float]) -> float:
    """The two-sided p-value of Welch's t test."""
    vx, vy = statistics.variance(x) / len(x), statistics.variance(y) / len(y)
    t = (statistics.fmean(x) - statistics.fmean(y)) / math.sqrt(vx + vy)
    df = (vx + vy) ** 2 / (vx**2 / (len(x) - 1) + vy**2 / (len(y) - 1))
    return incomplete_beta(df / 2, 0.5, df / (df + t * t))


def transcript(folder: str) -> list[tuple[str, str]]:
    """Lines, each after its style."""
    with open(f"{folder}/sum.c", "w") as source:
        source.write(PROGRAM)
    run("cc -O2 sum.c -o sum && cp sum copy", folder)
    command = "hyperfine -N --style basic --export-json times.json ./sum ./copy"
    for number in range(1, MOST_RUNS + 1):
        printed = run(f"{command} 2>/dev/null", folder)
        with open(f"{folder}/times.json") as times:
            first, second = (result["times"] for result in json.load(times)["results"])
        p = welch(first, second)
        if p < 0.05:
            break
    else:
        sys.exit(f"Welch's test found nothing in {MOST_RUNS} runs; try again")
    nth = f", run {number}" if number > 1 else ""
    version = run("hyperfine --version", folder).split()[1]
    deadheat = run("deadheat -V", folder).strip()
    lines = [
        ("heading", f"hyperfine {version}{nth}: a program and its copy"),
        ("prompt", "$ cp sum copy && hyperfine -N ./sum ./copy"),
    ]
    kept = [line for line in printed.splitlines() if line.strip()]
    lines += [("plain", line) for line in kept if "Range" not in line]
    change = 100 * (statistics.fmean(second) / statistics.fmean(first) - 1)
    size = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
    word = "slower" if change > 0 else "faster"
    lines += [
        ("plain", ""),
        ("heading", "Welch's t test on the times of hyperfine"),
        ("wrong", f"'./copy' is {word} by {abs(change):.1f}% ({size}), which is wrong"),
        ("plain", ""),
        ("heading", f"{deadheat}: the same program and copy"),
        ("prompt", "$ deadheat run -- ./sum ./copy"),
    ]
    printed = run("deadheat run --quiet -- ./sum ./copy", folder)
    # Notes come after the answer, and take much room.
    answer = [part for part in printed.split("\n\n") if not part.startswith(("note:", "warning:"))]
    for line in "\n\n".join(answer).splitlines():
        verdict = line.startswith(("≈", "✔", "✘", "?"))
        lines.append(("right" if verdict else "plain", line))
    return lines


def svg(lines: list[tuple[str, str]]) -> str:
    while lines and not lines[-1][1].strip():
        lines.pop()
    width = int(2 * LEFT + COLUMNS * CHARACTER)
    height = TOP + LINE_HEIGHT * len(lines) + 12
    texts = []
    for number, (style, text) in enumerate(lines):
        y = TOP + LINE_HEIGHT * (number + 0.7)
        texts.append(f'<text class="{style}" x="{LEFT}" y="{y:.0f}">{html.escape(text)}</text>')
    style = (
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:#d5d9e0}"
        ".heading{fill:#9aa4b5;font-style:italic}.prompt{fill:#fff;font-weight:bold}"
        ".wrong{fill:#ff8f80;font-weight:bold}.right{fill:#8ddb8c;font-weight:bold}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        'aria-label="A t test on the times of hyperfine calls a program and its copy different; deadheat calls a dead heat">\n'
        f"<style>{style}</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#1b1f27"/>\n'
        + "".join(f"{text}\n" for text in texts)
        + "</svg>\n"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        drawn = svg(transcript(folder))
    target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dead_heat.svg")
    with open(target, "w") as file:
        file.write(drawn)
    print(target)
