#!/usr/bin/env python3
"""Races servers under load by `deadheat load`: against copies, with known differences, and compared with other ways.

    measure.py measure [--seconds S] [--busy] [--known] [--paused] [--only WORD]    races for S seconds, and adds them to the data
    measure.py peers [--pairs N]                               the same copies by wrk, one after the other and in turns
    measure.py loop                                            the CPU time of the loop of server.js
    measure.py page                                            writes docs/validation/load.md

The data are in validation/data/load.jsonl. It needs node, nginx, redis-server with redis-benchmark, PostgreSQL with
pgbench, ab and wrk; nothing else may run on the machine. With --busy, a busy loop runs for every core.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from math import comb, sqrt
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = ROOT / "validation" / "data" / "load.jsonl"
PAGE = ROOT / "docs" / "validation" / "load.md"
DEADHEAT = os.environ.get("DEADHEAT", str(ROOT / "target" / "release" / "deadheat"))
BUSY = "while True: pass"

NODE, NGINX, POSTGRES = (str(HERE / name) for name in ["server.js", "nginx.sh", "postgres.sh"])
AB = ["ab", "-q", "-k", "-c", "8"]
ON_NODE = [*AB, "-n", "150", "http://127.0.0.1:{port}/"]
ON_NGINX = [*AB, "-n", "200", "-H", "Accept-Encoding: gzip", "http://127.0.0.1:{port}/"]
ON_REDIS = ["redis-benchmark", "-p", "{port}", "-t", "get", "-n", "10000", "-c", "16"]
ON_POSTGRES = ["pgbench", "-n", "-S", "-c", "4", "-t", "300", "-h", "127.0.0.1", "-p", "{port}", "-U", "postgres", "postgres"]
REDIS = "redis-server --port {port} --save '' --dir {data}"
PG = f"sh {POSTGRES} {{port}} {{data}}"

# The name, the servers, the load, and what differs; a second blank makes the name of a copy differ.
COPIES = [
    ("Node", [f"node {NODE} {{port}} 0", f"node {NODE} {{port}}  0"], ON_NODE, []),
    ("nginx", [f"sh {NGINX} {{port}} {{data}} 1", f"sh {NGINX} {{port}} {{data}}  1"], ON_NGINX, []),
    ("redis", [REDIS, REDIS.replace("--save", " --save")], ON_REDIS, []),
    ("PostgreSQL", [PG, PG.replace(" {data}", "  {data}")], ON_POSTGRES, ["--ready", "pg_isready -q -h 127.0.0.1 -p {port}"]),
]
KNOWN = [
    # The loop is 147 of the 389 µs of a request: 5.3% and 13.2% more of it are 2% and 5% of a request.
    ("Node, 2% more per request", [f"node {NODE} {{port}} 0", f"node {NODE} {{port}} 5.3"], ON_NODE, []),
    ("Node, 5% more per request", [f"node {NODE} {{port}} 0", f"node {NODE} {{port}} 13.2"], ON_NODE, []),
    ("nginx, gzip level 1 and 2", [f"sh {NGINX} {{port}} {{data}} 1", f"sh {NGINX} {{port}} {{data}} 2"], ON_NGINX, []),
    ("redis, io-threads 1 and 2", [REDIS, REDIS.replace("--save", "--io-threads 2 --save")], ON_REDIS, []),
    ("PostgreSQL, jit on and off", [PG + " -c jit=on", PG + " -c jit=off"], ON_POSTGRES, COPIES[3][3]),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("measure")
    measured.add_argument("--seconds", type=float, default=600)
    measured.add_argument("--busy", action="store_true")
    measured.add_argument("--known", action="store_true", help="known differences instead of copies")
    measured.add_argument("--paused", action="store_true", help="with --pause-idle")
    measured.add_argument("--only", default="", help="systems whose names contain this")
    peers = commands.add_parser("peers")
    peers.add_argument("--pairs", type=int, default=10)
    commands.add_parser("loop")
    commands.add_parser("page")
    options = parser.parse_args()
    if options.command == "page":
        PAGE.write_text(page([json.loads(line) for line in DATA.read_text().splitlines()]))
    elif options.command == "loop":
        done = subprocess.run(["node", str(HERE / "loop.js")], capture_output=True, text=True, check=True)
        add({"loop_us": float(done.stdout)})
    elif options.command == "peers":
        by_hand(options.pairs)
    else:
        measure(options)


def measure(options):
    systems = [one for one in (KNOWN if options.known else COPIES) if options.only in one[0]]
    with tempfile.TemporaryDirectory() as folder:
        cluster = make_cluster(Path(folder))
        loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count() if options.busy else 0)]
        try:
            end = time.monotonic() + options.seconds
            while time.monotonic() < end:
                for system in systems:
                    add(race(system, cluster, folder, options.paused) | {"busy": options.busy, "known": options.known})
        finally:
            for loop in loops:
                loop.kill()


def make_cluster(folder):
    """A cluster of PostgreSQL with the tables of pgbench."""
    bins = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    cluster = folder / "cluster"
    as_user = []
    if os.geteuid() == 0:
        folder.chmod(0o755)
        cluster.mkdir()
        shutil.chown(cluster, "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    run = lambda words: subprocess.run(words, check=True, capture_output=True, cwd="/")
    run([*as_user, f"{bins}/initdb", "-D", str(cluster), "-A", "trust", "-U", "postgres", "--no-sync"])
    start = [*as_user, f"{bins}/pg_ctl", "-D", str(cluster), "-o", "-p 15432 -k '' -h 127.0.0.1", "-w", "-l", "/dev/null"]
    run([*start, "start"])
    run(["pgbench", "-i", "-q", "-s", "2", "-h", "127.0.0.1", "-p", "15432", "-U", "postgres", "postgres"])
    run([*start, "stop"])
    return cluster


def race(system, cluster, folder, paused):
    name, servers, load, more = system
    if paused:
        more = [*more, "--pause-idle"]
    if "postgres.sh" in servers[0]:
        more = [*more, "--data", str(cluster)]
    words = [DEADHEAT, "load", "--json", "--quiet", "--save", "/dev/null", "--max-replicates", "12", *more]
    for server in servers:
        words += ["--server", server]
    since = time.monotonic()
    done = subprocess.run([*words, "--", *load], capture_output=True, text=True, cwd=folder)
    took = time.monotonic() - since
    if done.returncode != 0:
        print(done.stdout[-300:], done.stderr[-300:], file=sys.stderr)
        return {"system": name, "paused": paused, "failed": done.returncode, "seconds": took}
    one = json.loads(done.stdout)["benchmarks"][0]
    metrics = {metric["metric"]: metric["ci"] for metric in one["metrics"]}
    return {
        "system": name,
        "paused": paused,
        # Rows without it are of a deadheat that did not wait until a server is quiet.
        "quiet": True,
        "verdict": one["verdict"],
        "change": one["change"],
        "ci": one["ci"],
        "typical_ns": one["baseline"]["typical"],
        "replicates": one["replicates"],
        "seconds": round(took, 1),
        "metrics": metrics,
    }


def add(row):
    row |= {"date": date.today().isoformat(), "cpu": processor(), "cores": os.cpu_count()}
    with DATA.open("a") as data:
        data.write(json.dumps(row) + "\n")
    print({key: row[key] for key in row if key != "metrics"}, flush=True)


def processor():
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else platform.processor()


def by_hand(pairs):
    """Ten runs of wrk for each of two equal servers: one server after the other, and in turns."""
    server = ["node", NODE]
    for pair in range(pairs):
        for way in ["one after the other", "in turns"]:
            since = time.monotonic()
            started = [subprocess.Popen([*server, str(port), "0"]) for port in (18080, 18081)]
            time.sleep(0.5)
            order = [0] * 10 + [1] * 10 if way == "one after the other" else [0, 1] * 10
            rates = ([], [])
            for side in order:
                url = f"http://127.0.0.1:{18080 + side}/"
                done = subprocess.run(["wrk", "-t1", "-c8", "-d1s", url], capture_output=True, text=True, check=True)
                rates[side].append(float(re.search(r"Requests/sec: +([0-9.]+)", done.stdout)[1]))
            for process in started:
                process.kill()
                process.wait()
            add({"peer": way, "rates": rates, "seconds": round(time.monotonic() - since, 1)})


def differs(one, other):
    """Whether Welch's t test at 5% calls two samples different."""
    variances = [statistics.variance(values) / len(values) for values in (one, other)]
    t = (statistics.mean(one) - statistics.mean(other)) / sqrt(sum(variances))
    freedom = sum(variances) ** 2 / sum(v**2 / (len(x) - 1) for v, x in zip(variances, (one, other)))
    # Quantiles 0.975 of Student's distribution.
    table = [(9, 2.262), (10, 2.228), (11, 2.201), (12, 2.179), (13, 2.160), (14, 2.145), (16, 2.120), (18, 2.101)]
    limit = next((value for degrees, value in reversed(table) if degrees <= freedom), 2.262)
    return abs(t) > limit


def bounds(hits, of):
    """The 95% Clopper-Pearson interval of a share."""
    def quantile(target, count):
        low, high = 0.0, 1.0
        for _ in range(60):
            rate = (low + high) / 2
            at_most = sum(comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(count + 1))
            low, high = (rate, high) if at_most > target else (low, rate)
        return low
    lower = 0.0 if hits == 0 else quantile(0.975, hits - 1)
    upper = 1.0 if hits == of else quantile(0.025, hits)
    return f"{hits} of {of} ({lower:.0%} to {upper:.0%})"


def is_call(row):
    return row["verdict"] in ("faster", "slower")


def page(rows):
    raced = [row for row in rows if "verdict" in row]
    copies = [row for row in raced if not row["known"] and not row.get("paused")]
    paused = [row for row in raced if row.get("paused") and not row["known"] and not row["busy"]]
    loop = statistics.median(row["loop_us"] for row in rows if "loop_us" in row)
    request = statistics.median(row["typical_ns"] / 1e3 for row in copies if row["system"] == "Node" and not row["busy"])
    dates = sorted({row["date"] for row in rows})
    when = f"on {dates[0]}" if len(dates) == 1 else f"from {dates[0]} to {dates[-1]}"
    out = ["# Servers under load", ""]
    out += [
        "This page has races by `deadheat load`: servers against copies of themselves, servers with known",
        "differences, and, for comparison, copies measured with wrk alone. A Node server computes for a few hundred",
        "microseconds per request; nginx compresses a page; redis answers GET; PostgreSQL answers the select of pgbench.",
        "The margin is 1%, and a race has at most 12 replicates. We measured on "
        f"{rows[0]['cores']} cores ({rows[0]['cpu']}) {when}.",
        "In the races, the servers have one core, and the load generator has the other. The raw data are in",
        "`validation/data/load.jsonl`. `just validate-load measure` and `just validate-load peers` add data, and `just",
        "validate-load page` writes this page.",
        "",
        "## Copies",
        "",
        "Both servers are the same, so every verdict of *faster* or *slower* is wrong. At most 5% of the verdicts may be",
        "wrong. *Busy* means that a CPU-bound process runs for each core. The percentages in brackets are",
        "95% Clopper-Pearson intervals. *Interval* is the median half-width of the 95% intervals of the change.",
        *before_quiet(copies),
        "",
        "| server | machine | wrong | dead heats | too close to call | interval | median time |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for busy in (False, True):
        out += rows_of([row for row in copies if row["busy"] == busy], "busy" if busy else "idle")
    out += [
        "",
        "deadheat also gives a 95% interval for every other metric. Both servers are the same, so an interval that",
        "excludes 0 is wrong. The table counts wrong intervals. A metric that was 0 in some bursts has no interval.",
        "",
        "| metric | idle | busy |",
        "| --- | --- | --- |",
    ]
    names = ["cpu", "wall", "requests/s", "peak-rss", "voluntary-switches", "involuntary-switches"]
    for name in names:
        cells = []
        for busy in (False, True):
            ends = [row["metrics"][name] for row in copies if row["busy"] == busy and row["metrics"].get(name)]
            wrong = sum(not low <= 0 <= high for low, high in ends)
            cells.append(bounds(wrong, len(ends)) if ends else "–")
        out.append(f"| `{name}` | {cells[0]} | {cells[1]} |")
    if paused:
        out += [
            "",
            "## With `--pause-idle`",
            "",
            "The same races on an idle machine, with the processes of the server without load stopped.",
            "",
            "| server | option | wrong | dead heats | too close to call | interval | median time |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        out += rows_of(paused, "`--pause-idle`")
        idle = [row for row in copies if not row["busy"]]
        out += ["", "CPU time per request of the baseline, median of the races:", ""]
        out += ["| server | idle | `--pause-idle` |", "| --- | --- | --- |"]
        for name in [one[0] for one in COPIES]:
            both = [[row["typical_ns"] for row in some if row["system"] == name] for some in (idle, paused)]
            if all(both):
                out.append(f"| {name} | {cpu_time(both[0])} | {cpu_time(both[1])} |")
    out += [
        "",
        "## Known differences",
        "",
        "In the first rows, the candidate repeats the loop of the Node server more often. The loop alone takes",
        f"{loop:.0f} µs of CPU time, and a whole request {request:.0f} µs. So a loop that is 5.3% and 13.2% longer makes a request cost",
        f"{5.3 * loop / request:.1f}% and {13.2 * loop / request:.1f}% more, and a loop that is 2% and 5% longer, {2 * loop / request:.1f}% and {5 * loop / request:.1f}%. The other rows compare two settings",
        "of one server. With two `io-threads`, redis waits for requests in a busy loop, and here both threads share",
        "one core.",
        "",
        "| difference | verdicts | change (median) | interval | median time |", "| --- | --- | --- | --- | --- |"]
    named = dict.fromkeys([one[0] for one in KNOWN] + [row["system"] for row in raced if row["known"]])
    for name in named:
        some = [row for row in raced if row["system"] == name]
        if some:
            said = [row["verdict"] for row in some]
            words = {"equivalent": "dead heat", "inconclusive": "too close to call"}
            counts = ", ".join(f"{said.count(v)} {words.get(v, v)}" for v in sorted(set(said)))
            change = statistics.median(row["change"] for row in some)
            out.append(f"| {name} | {counts} | {change:+.1%} | {interval(some)} | {seconds(some)} |")
    out += ["", "## The same copies without deadheat", ""]
    peers = [row for row in rows if "peer" in row]
    out += [
        "Two equal Node servers get ten runs of `wrk -t1 -c8 -d1s` each, and Welch's t test at 5% compares the request",
        "rates. Every difference that it finds is wrong. The cores of the servers and of wrk are not fixed.",
        "",
        "| runs | wrong | median time of the 20 runs |",
        "| --- | --- | --- |",
    ]
    for way in ["one after the other", "in turns"]:
        some = [row for row in peers if row["peer"] == way]
        if some:
            wrong = sum(differs(*row["rates"]) for row in some)
            out.append(f"| {way} | {bounds(wrong, len(some))} | {seconds(some)} |")
    failed = [row for row in rows if "failed" in row]
    if failed:
        out += ["", f"{len(failed)} races failed: " + ", ".join(sorted({row["system"] for row in failed})) + "."]
    return "\n".join(out) + "\n"


def before_quiet(copies):
    """A sentence on the races of a deadheat that did not wait until a server is quiet."""
    old = [row for row in copies if not row.get("quiet")]
    idle = sum(not row["busy"] for row in old)
    if not old:
        return []
    return [
        f"{idle} of the idle races and {len(old) - idle} of the busy ones are older than the wait after each burst, until the",
        "server is quiet.",
    ]


def rows_of(some, what):
    """A line for each server, and one for all."""
    lines = []
    for name in [one[0] for one in COPIES]:
        of_name = [row for row in some if row["system"] == name]
        if of_name:
            lines.append(row_of(name, what, of_name))
    return [*lines, row_of("**all**", what, some)] if some else []


def cpu_time(values):
    return f"{statistics.median(values) / 1e3:.1f} µs"


def row_of(name, what, some):
    said = [row["verdict"] for row in some]
    wrong = sum(map(is_call, some))
    return (
        f"| {name} | {what} | {bounds(wrong, len(some))} | {said.count('equivalent')} | "
        f"{said.count('inconclusive')} | {interval(some)} | {seconds(some)} |"
    )


def interval(some):
    return f"±{statistics.median((row['ci'][1] - row['ci'][0]) / 2 for row in some):.2%}"


def seconds(some):
    return f"{statistics.median(row['seconds'] for row in some):.0f} s"


if __name__ == "__main__":
    main()
