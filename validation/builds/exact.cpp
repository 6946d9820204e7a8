// Chains of steps, each of which needs the one before, for `compare_py`: a
// build with PERCENT does exactly so many per cent more of them, and is the
// same instruction for instruction.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>

#ifndef PERCENT
#define PERCENT 0
#endif

// In memory, where the compiler cannot know that nobody writes to it: builds
// differ in this number and in no instruction.
std::int64_t per_hundred = 100 + PERCENT;

static std::int64_t Steps(const benchmark::State& state) {
  return state.range(0) / 100 * per_hundred;
}

static void Multiplying(benchmark::State& state) {
  const std::int64_t steps = Steps(state);
  for (auto _ : state) {
    std::uint64_t bits = 1;
    benchmark::DoNotOptimize(bits);
    for (std::int64_t i = 0; i < steps; i++) bits = (bits ^ (bits >> 31)) * 0x6a09e667f3bcc909ull;
    benchmark::DoNotOptimize(bits);
  }
}
BENCHMARK(Multiplying)->RangeMultiplier(10)->Range(1000, 100000);

static void Shifting(benchmark::State& state) {
  const std::int64_t steps = Steps(state);
  for (auto _ : state) {
    std::uint64_t bits = 1;
    benchmark::DoNotOptimize(bits);
    for (std::int64_t i = 0; i < steps; i++) {
      bits ^= bits << 13;
      bits ^= bits >> 7;
      bits ^= bits << 17;
    }
    benchmark::DoNotOptimize(bits);
  }
}
BENCHMARK(Shifting)->RangeMultiplier(10)->Range(1000, 100000);

static void Averaging(benchmark::State& state) {
  const std::int64_t steps = Steps(state);
  for (auto _ : state) {
    double number = 1;
    benchmark::DoNotOptimize(number);
    for (std::int64_t i = 0; i < steps; i++) number = number * 0.75 + 1.5;
    benchmark::DoNotOptimize(number);
  }
}
BENCHMARK(Averaging)->RangeMultiplier(10)->Range(1000, 100000);

// Through 512 places in an order that looks like none, all in the first cache.
static void Walking(benchmark::State& state) {
  const std::int64_t steps = Steps(state);
  static std::array<std::uint16_t, 512> next;
  for (std::size_t place = 0; place < next.size(); place++) {
    // A full cycle, by the rule of Hull and Dobell.
    next[place] = static_cast<std::uint16_t>((place * 5 + 227) % next.size());
  }
  for (auto _ : state) {
    std::uint16_t place = 0;
    benchmark::DoNotOptimize(place);
    for (std::int64_t i = 0; i < steps; i++) place = next[place];
    benchmark::DoNotOptimize(place);
  }
}
BENCHMARK(Walking)->RangeMultiplier(10)->Range(1000, 100000);

BENCHMARK_MAIN();
