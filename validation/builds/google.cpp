// Twenty benchmarks of one Google Benchmark executable, raced against itself by
// `builds`.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#ifndef PERCENT
#define PERCENT 0
#endif

static std::vector<std::uint64_t> Numbers(std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::uint64_t state = 88172645463325252ull;
  for (auto& number : numbers) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    number = state;
  }
  return numbers;
}

static void Steps(benchmark::State& state) {
  for (auto _ : state) {
    std::uint64_t mixed = 1;
    benchmark::DoNotOptimize(mixed);
    for (std::int64_t i = 0; i < 10000 + 100 * PERCENT; i++) {
      mixed = (mixed ^ (mixed >> 31)) * 0x6a09e667f3bcc909ull;
    }
    benchmark::DoNotOptimize(mixed);
  }
}
BENCHMARK(Steps);

static void Sum(benchmark::State& state) {
  const auto numbers = Numbers(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (auto number : numbers) sum += number;
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(Sum)->RangeMultiplier(4)->Range(64, 65536);

static void OddSum(benchmark::State& state) {
  const auto numbers = Numbers(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (auto number : numbers) {
      if (number & 1) sum += number;
      benchmark::DoNotOptimize(sum);
    }
  }
}
BENCHMARK(OddSum)->RangeMultiplier(4)->Range(64, 16384);

static void Sort(benchmark::State& state) {
  const auto numbers = Numbers(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    auto copy = numbers;
    std::sort(copy.begin(), copy.end());
    benchmark::DoNotOptimize(copy.data());
  }
}
BENCHMARK(Sort)->RangeMultiplier(8)->Range(8, 4096);

static void Append(benchmark::State& state) {
  for (auto _ : state) {
    std::string text;
    for (std::int64_t i = 0; i < state.range(0); i++) text += static_cast<char>('a' + i % 26);
    benchmark::DoNotOptimize(text.data());
  }
}
BENCHMARK(Append)->RangeMultiplier(8)->Range(8, 4096);

static void Digits(benchmark::State& state) {
  std::uint64_t number = 1234567890123456789ull;
  for (auto _ : state) {
    benchmark::DoNotOptimize(number);
    auto text = std::to_string(number);
    benchmark::DoNotOptimize(text.data());
  }
}
BENCHMARK(Digits);

BENCHMARK_MAIN();
