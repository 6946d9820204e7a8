"""Options of the program that have no effect on a returned result, and their replacements."""

from __future__ import annotations

VERDICT = "look at result.verdict, or assert in a test: race(old, new).not_slower('2%')"
PRINTS = "print(result) prints the answer, and result.page(FILE) writes all of it"
ONE_PAIR = "race() has one benchmark; files of benchmarks have several (deadheat.benchmark)"
# By the name of the setting.
WITHOUT_EFFECT = {
    "fail_on": VERDICT,
    "allow_unjudged": VERDICT,
    "confirm": f"race again if the verdict matters; {VERDICT}",
    "markdown": "race returns its answer: export_markdown='FILE' writes a table of it",
    "verbose": PRINTS,
    "figures": "result.json has the secondary figures",
    "plot": "a notebook shows a plot, and result.page(FILE) writes all plots",
    "color": PRINTS,
    "nocapture": "call the function itself to see what it prints",
    "skip": ONE_PAIR,
    "exact": ONE_PAIR,
    "ignored": ONE_PAIR,
    "include_ignored": ONE_PAIR,
    "harness": "race() calls functions of Python",
    "python": "workers run this Python; `deadheat bench FILE --python OLD --python NEW` races two",
    "config": "give the margin itself: margin=0.02",
    "arrangement": "only launches of programs are arranged",
    "placement": "functions of Python are not linked",
    "shard": "parts of a race are merged from run files: `deadheat bench FILE --shard 1/4`",
    "shard_by": "parts of a race are merged from run files: `deadheat bench FILE --shard 1/4`",
}
