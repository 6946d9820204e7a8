// Hooks that measure memory or drive a profiler in an extra run of every benchmark.
#ifndef BENCHMARK_MANAGERS_H_
#define BENCHMARK_MANAGERS_H_

#include <stdint.h>

#include <limits>

#include "benchmark/macros.h"
#include "benchmark/types.h"

namespace benchmark {

class MemoryManager {
 public:
  // The value of a figure that the manager does not measure.
  static constexpr int64_t TombstoneValue = std::numeric_limits<int64_t>::max();

  struct Result {
    Result()
        : num_allocs(0),
          max_bytes_used(0),
          total_allocated_bytes(TombstoneValue),
          net_heap_growth(TombstoneValue),
          memory_iterations(0) {}

    int64_t num_allocs;
    int64_t max_bytes_used;
    int64_t total_allocated_bytes;
    int64_t net_heap_growth;
    IterationCount memory_iterations;
  };

  virtual ~MemoryManager() {}
  virtual void Start() = 0;
  // Releases up to 1.7 pass a pointer, later ones a reference. A manager overrides either.
  virtual void Stop(Result& result) { Stop(&result); }
  virtual void Stop(Result*) {}
};

BENCHMARK_EXPORT void RegisterMemoryManager(MemoryManager* memory_manager);

class ProfilerManager {
 public:
  virtual ~ProfilerManager() {}
  virtual void AfterSetupStart() = 0;
  virtual void BeforeTeardownStop() = 0;
};

BENCHMARK_EXPORT void RegisterProfilerManager(ProfilerManager* profiler_manager);

}  // namespace benchmark

#endif  // BENCHMARK_MANAGERS_H_
