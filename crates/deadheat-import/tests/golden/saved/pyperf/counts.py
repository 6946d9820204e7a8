"""Counts that no clock measured, saved through the library, beside times and bytes of other runs."""
import pyperf

calls = pyperf.Benchmark([
    pyperf.Run([412, 415], metadata={"name": "calls", "unit": "integer"}, collect_metadata=False),
    pyperf.Run([411.0, 413], metadata={"name": "calls", "unit": "integer"}, collect_metadata=False),
])
suite = pyperf.BenchmarkSuite([calls])
suite.add_runs(pyperf.BenchmarkSuite.load("py_timeit_20.json"))
for bench in pyperf.BenchmarkSuite.load("py_tracemalloc_2.json"):
    suite.add_benchmark(bench)
suite.dump("py_mixed_units_2.json", replace=True)
