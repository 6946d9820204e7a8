// Arithmetic on user counters.
#ifndef DEADHEAT_BENCHMARK_COUNTERS_H_
#define DEADHEAT_BENCHMARK_COUNTERS_H_

#include "benchmark/counter.h"

namespace benchmark {
namespace internal {

// The reported value of a counter, by its flags.
double finished(const Counter& counter, IterationCount iterations, double seconds, int threads);

// Adds `more` to `counters` by name.
void add(UserCounters& counters, const UserCounters& more);

bool same_names(const UserCounters& a, const UserCounters& b);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_COUNTERS_H_
