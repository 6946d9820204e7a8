// The kernels under Google Benchmark.

#include <benchmark/benchmark.h>

#include "kernel.hpp"

static void of_first(benchmark::State &state)
{
    const Words words = made_up_words();
    for (auto _ : state)
        benchmark::DoNotOptimize(first(words));
}
BENCHMARK(of_first)->Name("first");

static void of_second(benchmark::State &state)
{
    const Words words = made_up_words();
    for (auto _ : state)
        benchmark::DoNotOptimize(second(words));
}
BENCHMARK(of_second)->Name("second");

BENCHMARK_MAIN();
