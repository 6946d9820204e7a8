// User counters: figures that a benchmark reports besides its time.
#ifndef BENCHMARK_COUNTER_H_
#define BENCHMARK_COUNTER_H_

#include <map>
#include <string>

#include "benchmark/macros.h"
#include "benchmark/types.h"

namespace benchmark {

class BENCHMARK_EXPORT Counter {
 public:
  enum Flags {
    kDefaults = 0,
    kIsRate = 1 << 0,      // divide by the time
    kAvgThreads = 1 << 1,  // divide by the number of threads
    kAvgThreadsRate = kIsRate | kAvgThreads,
    kIsIterationInvariant = 1 << 2,  // multiply by the number of iterations
    kIsIterationInvariantRate = kIsRate | kIsIterationInvariant,
    kAvgIterations = 1 << 3,  // divide by the number of iterations
    kAvgIterationsRate = kIsRate | kAvgIterations,
    kInvert = 1 << 31  // report the reciprocal, last of all
  };

  enum OneK { kIs1000 = 1000, kIs1024 = 1024 };

  double value;
  Flags flags;
  OneK oneK;

  BENCHMARK_ALWAYS_INLINE Counter(double v = 0., Flags f = kDefaults, OneK k = kIs1000) : value(v), flags(f), oneK(k) {}

  BENCHMARK_ALWAYS_INLINE operator double const&() const { return value; }
  BENCHMARK_ALWAYS_INLINE operator double&() { return value; }
};

inline Counter::Flags operator|(const Counter::Flags& a, const Counter::Flags& b) {
  return static_cast<Counter::Flags>(static_cast<int>(a) | static_cast<int>(b));
}

typedef std::map<std::string, Counter> UserCounters;

}  // namespace benchmark

#endif  // BENCHMARK_COUNTER_H_
