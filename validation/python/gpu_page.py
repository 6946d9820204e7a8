"""The page of `gpu.py`: what was measured on a device, and what on the simulated one."""

import re
from math import comb

SIDES = ("warm", "cold")
HEAD = """# Races on a GPU

Written by `just validate-gpu page`. Raw data: `validation/data/gpu.jsonl`;
samples of the H200: `validation/data/gpu_runs.jsonl.xz`.
"""
SCRIPT = (
    "`just validate-gpu measure` is meant to measure everything on a GPU in 8 minutes. It runs the "
    "races of the simulation with real kernels, cold and warm, and measures the same pairs by "
    "`triton.testing.do_bench` in turns. It also runs races by CuPy and Numba, and provokes every "
    "failure of [gpu.md](../gpu.md#when-a-function-fails).\n"
)


def page(found):
    parts = [HEAD, on_device(found), simulated(found)]
    return "\n".join(part for part in parts if part)


def on_device(found):
    sittings = []
    for one in found:
        if one["tool"] == "device":
            sittings.append([])
        if sittings and one["tool"] != "simulated":
            sittings[-1].append(one)
    if not sittings:
        return f"## On a device\n\n**Not yet measured on hardware.** {SCRIPT}"
    said = ["## On a device\n"]
    for sitting in sittings:
        device = sitting[0]
        said.append(f"### {device['name']}\n\ntorch {device['torch']}; {state(sitting)}.\n")
        parts = [races(sitting), grid(sitting, "deadheat", "Races of `deadheat bench`")]
        parts += [unsteady(sitting), do_bench(sitting), libraries(sitting), faults(sitting)]
        said += [part for part in parts if part]
    missing = [
        name
        for name, tool in [
            ("races of many copies and of more work", "deadheat"),
            ("`do_bench` on the same pairs", "do_bench"),
            ("races by CuPy", "cupy"),
            ("races by Numba", "numba"),
            ("failures by name", "fault"),
        ]
        if not any(one["tool"] == tool for one in found)
    ]
    if missing:
        said.append(f"**Not yet measured on hardware:** {', '.join(missing)}. {SCRIPT}")
    return "\n".join(said)


def state(sitting):
    """The state that the device reported, or the range of what the answers of its races say."""
    if "state" in sitting[0]:
        return sitting[0]["state"]
    notes = " ".join(note for one in sitting for note in one.get("warnings", []))
    said = []
    for pattern, unit in (
        (r"SM at (\d+) MHz", "the SM clock was {} MHz"),
        (r"memory at (\d+) MHz", "the memory clock was {} MHz"),
        (r"(\d+) degrees", "the temperature was {} degrees Celsius"),
    ):
        values = sorted({int(value) for value in re.findall(pattern, notes)})
        said.append(unit.format(" to ".join(map(str, dict.fromkeys((values[0], values[-1]))))))
    return f"according to the notes of the races, {', '.join(said[:-1])}, and {said[-1]}"


def unsteady(sitting):
    """How many races had throttled samples, and what became of these."""
    rows = [one for one in sitting if one["tool"] == "deadheat" and "verdict" in one]
    flagged = [one for one in rows if has(one, "The GPU was throttled")]
    if not flagged:
        return ""
    # The stored answers of the H200 have the first words, and later ones the second.
    counted_all = [
        one for one in flagged if has(one, "All count") or has(one, "deadheat keeps all of them")
    ]
    kernels = ", ".join(sorted({f"{one['kernel']}/{one['cache']}" for one in flagged}))
    copies = sum(one["work"] == 0 for one in counted_all)
    return (
        f"The GPU was throttled, or its clock stepped, in samples of {len(flagged)} of {len(rows)} "
        f"races ({kernels}). In {len(counted_all)} of these {len(flagged)} races, more than 20% of "
        f"the blocks had such samples, so deadheat kept all blocks: {copies} races of copies and "
        f"{len(counted_all) - copies} with more work. The verdicts of the {len(counted_all)} "
        "races with all blocks hold for an unsteady clock, not for a fixed one.\n"
    )


def has(one, words):
    return any(words in warning for warning in one.get("warnings", []))


def races(found):
    rows = [one for one in found if one["tool"] == "race"]
    if not rows:
        return ""
    lines = [
        "| race, six replicates of four blocks | a call of the baseline | change, 95% CI | "
        "verdict | notes |",
        "| --- | ---: | --- | --- | --- |",
    ]
    for one in rows:
        low, high = one["interval"]
        change = f"{percent(one['change'])}, " if one["change"] is not None else ""
        lines.append(
            f"| {one['what']} | {time(one['typical_ns'])} | {change}{percent(low)} to "
            f"{percent(high)} | {VERDICTS[one['verdict']]} | {one['notes']} |"
        )
    told = (
        "These figures come from the answers of one measurement session; its samples were not kept."
    )
    return "\n".join([told, "", *lines, ""])


VERDICTS = {
    "equivalent": "dead heat",
    "inconclusive": "too close to call",
    "slower": "slower",
    "faster": "faster",
    None: "none",
}


def grid(found, tool, title):
    """Verdicts by kernel, cache and work."""
    rows = [one for one in found if one["tool"] == tool and "verdict" in one]
    if not rows:
        return ""
    lines = [
        f"{title}: six replicates of eight blocks, margin 0.5%.",
        "",
        "| kernel | copies, warm: called different | copies, cold: called different | dead heats "
        f"| more work: slower | changes found ({'true' if tool == 'simulated' else 'more work'}) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    from gpu import KERNELS, NAMES

    for kernel in KERNELS:
        own = [one for one in rows if one["kernel"] == kernel]
        copies = [one for one in own if one["work"] == 0]
        by_cache = [share([one for one in copies if one["cache"] == side]) for side in SIDES]
        dead = sum(one["verdict"] == "equivalent" for one in copies)
        more = [one for one in own if one["work"] > 0]
        slower = sum(one["verdict"] == "slower" for one in more)
        changes = [
            f"{percent(median([o['change'] for o in more if o['work'] == work]))} "
            f"({percent(MORE[kernel][work])})"
            for work in (1, 2)
            if any(one["work"] == work for one in more)
        ]
        lines.append(
            f"| {NAMES[kernel]} | {by_cache[0]} | {by_cache[1]} | {dead} of {len(copies)} | "
            f"{slower} of {len(more)} | {', '.join(changes)} |"
        )
    copies = [one for one in rows if one["work"] == 0]
    apart = sum(is_apart(one) for one in copies)
    missed = sum(map(leaves_out_0, copies))
    sides = [[one for one in copies if one["cache"] == side] for side in SIDES]
    by_side = ": " + "; ".join(
        f"{side} {counted(sum(map(leaves_out_0, own)), len(own))}"
        for side, own in zip(SIDES, sides, strict=True)
    )
    more = [one for one in rows if one["work"] > 0]
    lines += [
        "",
        f"- Copies called different, in total: {counted(apart, len(copies))}.",
        f"- 95% CIs of copies that leave out 0: {counted(missed, len(copies))}{by_side}. Such a CI "
        "is still a dead heat if it lies within the margin, as most of these do.",
        "- Candidates with more work that were called faster: "
        f"{sum(one['verdict'] == 'faster' for one in more)} of {len(more)}.",
        "",
    ]
    undecided = sum(one["verdict"] is None for one in rows)
    if undecided:
        lines.insert(
            -1,
            f"- No verdict: {undecided} of {len(rows)}. The GPU was throttled, or its clock "
            "stepped, in all blocks of a replicate. Fewer than six replicates were then left.",
        )
    if tool == "deadheat":
        lines.insert(-1, WORK_IS_NOT_TIME)
    failed = [one for one in found if one["tool"] == tool and "failed" in one]
    if failed:
        lines += [f"Failed: {len(failed)}, such as {failed[0]['message']}.", ""]
    return "\n".join(lines)


WORK_IS_NOT_TIME = (
    "- We know how much more work a function does, but not how much more time it takes, because "
    "both functions also need the same time for a launch. For the kernel of 5,000 cycles at 1,980 "
    "MHz, the cycles are 2.53 µs of a call of 3.27 µs, so 1% more cycles would be +0.77%. The "
    "function on the GPU also waits by reading the GPU clock in a loop, and can wait one iteration "
    "too long. This may explain why we measured a smaller change; we did not check this "
    "explanation."
)
MORE = {
    "add": [0, 0.01, 0.02],
    "softmax": [0, 0.01, 0.02],
    "matmul": [0, 8_256 / 8_192 - 1, 8_320 / 8_192 - 1],
    "short": [0, 0.01, 0.02],
}


def counted(hits, count):
    low, high = clopper_pearson(hits, count)
    return f"{hits} of {count} ({100 * low:.1f} to {100 * high:.1f}%)"


def leaves_out_0(one):
    low, high = one["interval"]
    return not low <= 0 <= high


def is_apart(one):
    return one["verdict"] in ("faster", "slower")


def share(rows):
    return f"{sum(map(is_apart, rows))} of {len(rows)}"


def do_bench(found):
    rows = [one for one in found if one["tool"] == "do_bench"]
    if not rows:
        return ""
    from gpu import KERNELS, NAMES

    lines = [
        "For comparison, `triton.testing.do_bench` measured the same kernels, one function after "
        "the other in one process. The table compares the medians of a kernel and its copy. "
        "`do_bench` empties the L2 cache before each call and uses no CUDA graphs. `do_bench` was "
        "called once per function and gives no interval. So the counts show how far single results "
        "scatter, and are not false verdicts. `deadheat bench` took six replicates per pair, and "
        f"its largest change between copies was {largest_of_copies(found)}.",
        "",
        "| kernel | copies: more than 0.5% apart | more than 1% apart | largest |",
        "| --- | --- | --- | ---: |",
    ]
    for kernel in KERNELS:
        apart = [abs(one["change"]) for one in rows if one["kernel"] == kernel and not one["work"]]
        if apart:
            counts = [sum(change > limit for change in apart) for limit in (0.005, 0.01)]
            lines.append(
                f"| {NAMES[kernel]} | {counts[0]} of {len(apart)} | {counts[1]} of {len(apart)} | "
                f"{100 * max(apart):.2f}% |"
            )
    return "\n".join([*lines, ""])


def largest_of_copies(found):
    copies = [one for one in found if one["tool"] == "deadheat" and one.get("work") == 0]
    return f"{100 * max(abs(one['change']) for one in copies):.2f}%" if copies else "not measured"


def libraries(found):
    rows = [one for one in found if one["tool"] in ("cupy", "numba")]
    said = []
    for one in rows:
        if "failed" in one:
            said.append(f"- {one['tool']}: {one['message']}")
        else:
            low, high = one["interval"]
            said.append(
                f"- {one['tool']}: a kernel against its copy, {time(one['typical_ns'])}: "
                f"{VERDICTS[one['verdict']]} ({percent(low)} to {percent(high)})"
                + ("; the interval leaves out 0" if leaves_out_0(one) else "")
                + ("; warned that a call changes its input" if has(one, "changes its") else "")
            )
    if not said:
        return ""
    return "\n".join(["CuPy and Numba, one race each:\n", *said, ""])


def faults(found):
    rows = [one for one in found if one["tool"] == "fault"]
    if not rows:
        return ""
    lines = ["| what goes wrong | what the answer says |", "| --- | --- |"]
    for one in rows:
        said = one.get("message") or " ".join(one["warnings"])
        lines.append(f"| `{one['name']}` | {said} |")
    return "\n".join([*lines, ""])


def simulated(found):
    table = grid(found, "simulated", "Races of `deadheat bench` on the simulated device")
    if not table:
        return ""
    return (
        "## On a simulated device\n\n"
        "The modules `torch` and `pynvml` of `python/tests/simulated_gpu` replace the modules that "
        "control a real GPU, and a simulated kernel is only a duration. The simulation adds noise: "
        "a duration differs from process to process by 1%, and from function to function within a "
        "process by 0.1%. All times drift by 0.1% a millisecond and differ by 0.3% between "
        "milliseconds. The clock steps by 11%, on average every five seconds. The device is "
        "throttled by 29% for 20 ms, on average every two seconds. A launch takes the host 6 µs. "
        "Two kernels are 1 µs apart on the device, or 0.3 µs in a graph, so the change in the time "
        "of a short kernel is smaller than the change of its work."
        f"\n\n{table}"
    )


def percent(change):
    said = f"{100 * change:+.2f}%"
    return said.replace("-", "−")


def time(ns):
    return f"{ns / 1e3:.2f} µs" if ns < 1e6 else f"{ns / 1e6:.2f} ms"


def median(values):
    return sorted(values)[len(values) // 2]


def clopper_pearson(hits, count, alpha=0.05):
    """The exact interval of a share."""

    def at_most(share, hits):
        return sum(comb(count, n) * share**n * (1 - share) ** (count - n) for n in range(hits + 1))

    def solve(is_low):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if is_low(middle) else (low, middle)
        return low

    lower = 0.0 if hits == 0 else solve(lambda share: 1 - at_most(share, hits - 1) < alpha / 2)
    upper = 1.0 if hits == count else solve(lambda share: at_most(share, hits) > alpha / 2)
    return lower, upper
