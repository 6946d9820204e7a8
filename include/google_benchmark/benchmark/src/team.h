// The threads that run a benchmark function together, and what they add up to.
#ifndef DEADHEAT_BENCHMARK_TEAM_H_
#define DEADHEAT_BENCHMARK_TEAM_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "benchmark/counter.h"
#include "benchmark/statistics.h"
#include "instance.h"

namespace benchmark {
namespace internal {

// Holds threads until all of them have arrived. A thread whose function has returned no longer counts.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}

  void arrive_and_wait();
  void leave();

 private:
  void open_if_complete();

  std::mutex mutex_;
  std::condition_variable opened_;
  int threads_;
  int waiting_ = 0;
  unsigned round_ = 0;
};

std::unique_ptr<ThreadRunnerBase> thread_runner(const BenchmarkInstance& instance);

// Sums over the threads of one call of a benchmark function.
struct Totals {
  IterationCount iterations = 0;
  double real_time = 0;
  double cpu_time = 0;
  double manual_time = 0;
  ComplexityN complexity_n = 0;
  UserCounters counters;
  std::string label;
  Skipped skipped = NotSkipped;
  std::string skip_message;
};

// Calls the benchmark function on all threads, for `iterations` iterations each.
Totals run_team(const BenchmarkInstance& instance, IterationCount iterations);

// Calls it on this thread alone, in front of a profiler or of nothing.
Totals run_alone(const BenchmarkInstance& instance, IterationCount iterations, ProfilerManager* profiler);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_TEAM_H_
