// One benchmark of every kind that Google Benchmark knows.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <vector>

static long added(const std::vector<int> &numbers)
{
    long sum = 0;
    for (int number : numbers)
        benchmark::DoNotOptimize(sum += number);
    return sum;
}

static void sum(benchmark::State &state)
{
    const std::vector<int> numbers(state.range(0), 1);
    for (auto _ : state)
        benchmark::DoNotOptimize(added(numbers));
    state.SetBytesProcessed(state.iterations() * state.range(0) * sizeof(int));
    state.counters["rows"] = double(state.range(0));
    state.counters["odd"] = std::nan("");
}
BENCHMARK(sum)->Arg(100)->Arg(400);
BENCHMARK(sum)->Name("own_length")->Arg(100)->Iterations(70);
BENCHMARK(sum)->Name("own_repetitions")->Arg(100)->Repetitions(3);
BENCHMARK(sum)->Name("aggregates")->Arg(100)->ReportAggregatesOnly();
BENCHMARK(sum)->Name("threads")->Arg(100)->Threads(2)->UseRealTime();
BENCHMARK(sum)->Name("odd.name(1|2)")->Arg(100)->Unit(benchmark::kMillisecond);

static void by_hand(benchmark::State &state)
{
    using clock = std::chrono::steady_clock;
    const std::vector<int> numbers(1000, 1);
    for (auto _ : state) {
        const auto began = clock::now();
        benchmark::DoNotOptimize(added(numbers));
        const std::chrono::duration<double> took = clock::now() - began;
        state.SetIterationTime(took.count());
    }
}
BENCHMARK(by_hand)->UseManualTime();

static void broken(benchmark::State &state)
{
    state.SkipWithError("no \"database\" here");
    for (auto _ : state) {
    }
}
BENCHMARK(broken);

BENCHMARK_MAIN();
