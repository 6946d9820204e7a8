from collections import Counter, defaultdict
from types import SimpleNamespace

counters = defaultdict(Counter)
compilations = []


def compiled(why):
    counters["stats"]["unique_graphs"] += 1
    compilations.append(SimpleNamespace(recompile_reason=why))


def get_compilation_metrics():
    return list(compilations)
