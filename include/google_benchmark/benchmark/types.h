// Types that the other headers share.
#ifndef BENCHMARK_TYPES_H_
#define BENCHMARK_TYPES_H_

#include <stdint.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "benchmark/export.h"

namespace benchmark {

class Benchmark;
class BenchmarkReporter;
class MemoryManager;
class ProfilerManager;
class State;

typedef int64_t IterationCount;
typedef std::function<void(const State&)> callback_function;

enum TimeUnit { kNanosecond, kMicrosecond, kMillisecond, kSecond };

namespace internal {

typedef void(Function)(State&);

// `std::make_unique` is C++14.
template <class T, class... Args>
std::unique_ptr<T> make_unique(Args&&... args) {
  return std::unique_ptr<T>(new T(std::forward<Args>(args)...));
}

}  // namespace internal
}  // namespace benchmark

#endif  // BENCHMARK_TYPES_H_
