// The registered memory and profiler managers; null if there are none.
#ifndef DEADHEAT_BENCHMARK_MANAGERS_H_
#define DEADHEAT_BENCHMARK_MANAGERS_H_

#include "benchmark/managers.h"

namespace benchmark {
namespace internal {

struct Managers {
  MemoryManager* memory = nullptr;
  ProfilerManager* profiler = nullptr;
};

inline Managers& managers() {
  static Managers managers;
  return managers;
}

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_MANAGERS_H_
