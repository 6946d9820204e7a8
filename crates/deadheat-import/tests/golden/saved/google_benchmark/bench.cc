#include <benchmark/benchmark.h>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>
#include <chrono>

// With -DSLOWER the loops of `sum` do half as much again; everything else stays.
#ifdef SLOWER
static long more(long n) { return n + n / 2; }
#else
static long more(long n) { return n; }
#endif
static void work(long n) { long a = 0; for (long i = 0; i < n; i++) benchmark::DoNotOptimize(a += i); }

static void sum(benchmark::State& state) {
  for (auto _ : state) work(more(state.range(0)));
  state.SetComplexityN(state.range(0));
}
#ifdef COMPLEXITY
BENCHMARK(sum)->RangeMultiplier(4)->Range(64, 1024)->Complexity(benchmark::oN);
#else
BENCHMARK(sum)->Arg(64)->Arg(256);
#endif

#ifndef COMPLEXITY
// The library of onnx 1.5.0 does not escape what it writes; PLAIN keeps its file JSON.
#ifdef PLAIN
#define QUOTED "plain"
#else
#define QUOTED "\"quoted\""
#endif
static void copy(benchmark::State& state) {
  std::vector<char> from(state.range(0), 7), to(state.range(0));
  for (auto _ : state) { std::memcpy(to.data(), from.data(), from.size()); benchmark::ClobberMemory(); }
  state.SetBytesProcessed(int64_t(state.iterations()) * state.range(0));
  state.SetItemsProcessed(int64_t(state.iterations()));
  state.SetLabel("memcpy, " QUOTED);
}
BENCHMARK(copy)->Arg(4096);

static void counters(benchmark::State& state) {
  for (auto _ : state) work(100);
  state.counters["plain"] = 42;
  state.counters["rate"] = benchmark::Counter(double(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["per_thread"] = benchmark::Counter(3, benchmark::Counter::kAvgThreads);
#ifdef ODD
  state.counters["not_a_number"] = std::numeric_limits<double>::quiet_NaN();
  state.counters["endless"] = std::numeric_limits<double>::infinity();
  state.counters["minus_endless"] = -std::numeric_limits<double>::infinity();
#endif
}
BENCHMARK(counters);

static void micro(benchmark::State& state) { for (auto _ : state) work(20000); }
BENCHMARK(micro)->Unit(benchmark::kMicrosecond)->UseRealTime();
static void milli(benchmark::State& state) { for (auto _ : state) work(500000); }
BENCHMARK(milli)->Unit(benchmark::kMillisecond)->MinTime(0.01);
static void manual(benchmark::State& state) {
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    work(1000);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(took.count());
  }
}
BENCHMARK(manual)->UseManualTime();
static void threaded(benchmark::State& state) { for (auto _ : state) work(1000); }
BENCHMARK(threaded)->Threads(2)->UseRealTime();
static void fixed(benchmark::State& state) { for (auto _ : state) work(1000); }
BENCHMARK(fixed)->Iterations(1000);

#ifdef ODD
#ifndef OLD
static void seconds(benchmark::State& state) { for (auto _ : state) work(1000); }
BENCHMARK(seconds)->Unit(benchmark::kSecond);
BENCHMARK(seconds)->Name("named/größe \"x\"\\");
#endif
static void failed(benchmark::State& state) {
  state.SkipWithError("no " QUOTED " input");
  for (auto _ : state) {}
}
BENCHMARK(failed);
static void fails_later(benchmark::State& state) {
  for (auto _ : state) { state.SkipWithError("broke in the loop"); break; }
}
BENCHMARK(fails_later)->Arg(1);
#ifdef NEW
static void skipped(benchmark::State& state) {
  state.SkipWithMessage("not on this machine");
  for (auto _ : state) {}
}
BENCHMARK(skipped);
#endif
#endif
#endif

#ifdef MEMORY
class Manager : public benchmark::MemoryManager {
  void Start() override {}
  void Stop(Result& r) override {
    r.num_allocs = 12; r.max_bytes_used = 4096;
#ifndef NO_TOTAL
    r.total_allocated_bytes = 16384; r.net_heap_growth = 512;
#endif
  }
#ifdef POINTER
  void Stop(Result* r) override { Stop(*r); }
#endif
};
int main(int argc, char** argv) {
  Manager m;
  benchmark::RegisterMemoryManager(&m);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
#else
BENCHMARK_MAIN();
#endif
