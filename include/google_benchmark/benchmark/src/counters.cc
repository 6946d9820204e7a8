#include "counters.h"

#include <algorithm>

namespace benchmark {
namespace internal {

double finished(const Counter& counter, IterationCount iterations, double seconds, int threads) {
  const double n = static_cast<double>(iterations);
  double value = counter.value;
  if (counter.flags & Counter::kIsRate) value /= seconds;
  if (counter.flags & Counter::kAvgThreads) value /= threads;
  if (counter.flags & Counter::kIsIterationInvariant) value *= n;
  if (counter.flags & Counter::kAvgIterations) value /= n;
  return counter.flags & Counter::kInvert ? 1 / value : value;
}

void add(UserCounters& counters, const UserCounters& more) {
  for (const auto& counter : more) {
    const auto inserted = counters.insert(counter);
    if (!inserted.second) inserted.first->second.value += counter.second.value;
  }
}

bool same_names(const UserCounters& a, const UserCounters& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](const UserCounters::value_type& x, const UserCounters::value_type& y) {
                                              return x.first == y.first;
                                            });
}

}  // namespace internal
}  // namespace benchmark
