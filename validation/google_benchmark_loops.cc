// Loops whose machine code google_benchmark_api.py compares.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using benchmark::DoNotOptimize;

extern "C" {

int external(int);

void loop_value(benchmark::State& state) {
  int x = 0;
  for (auto _ : state) DoNotOptimize(x);
}

void loop_increment(benchmark::State& state) {
  int x = 0;
  for (auto _ : state) DoNotOptimize(++x);
}

void loop_call(benchmark::State& state) {
  int x = 1;
  for (auto _ : state) x = external(x);
  DoNotOptimize(x);
}

void loop_sum(benchmark::State& state) {
  std::vector<int> numbers(1000, 1);
  for (auto _ : state) {
    int sum = 0;
    for (int number : numbers) sum += number;
    DoNotOptimize(sum);
  }
}

void loop_multiply(benchmark::State& state) {
  double a = 1;
  for (auto _ : state) a = a * 1.000001 + 0.5;
  DoNotOptimize(a);
}

void loop_square_root(benchmark::State& state) {
  double a = 3;
  for (auto _ : state) {
    DoNotOptimize(a);
    double root = std::sqrt(a);
    DoNotOptimize(root);
  }
}

void loop_string(benchmark::State& state) {
  for (auto _ : state) {
    std::string text("too long for the small buffer");
    DoNotOptimize(text);
  }
}

void loop_copy(benchmark::State& state) {
  std::vector<char> from(4096), to(4096);
  for (auto _ : state) {
    char* source = from.data();
    DoNotOptimize(source);
    memcpy(to.data(), source, to.size());
    benchmark::ClobberMemory();
  }
}

void loop_map(benchmark::State& state) {
  std::map<int, int> squares;
  for (int i = 0; i < 100; ++i) squares[i] = i * i;
  int key = 0;
  for (auto _ : state) {
    auto found = squares.find(key);
    DoNotOptimize(found);
    key = key == 99 ? 0 : key + 1;
  }
}

// More live values than registers that survive a call.
void loop_live_values(benchmark::State& state) {
  double a = 1, b = 2, c = 3, d = 4;
  long i = 0, j = 1, k = 2, l = 3;
  for (auto _ : state) {
    a += b;
    b *= c;
    c -= d;
    d += a;
    i += j;
    j ^= k;
    k += l;
    l -= i;
    DoNotOptimize(a);
    DoNotOptimize(i);
  }
  DoNotOptimize(b += c + d);
  DoNotOptimize(j += k + l);
}

void loop_keep_running(benchmark::State& state) {
  int x = 0;
  while (state.KeepRunning()) DoNotOptimize(x += 3);
}

}  // extern "C"
