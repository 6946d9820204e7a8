// One row to run: a registered benchmark with its arguments and number of threads.
#ifndef DEADHEAT_BENCHMARK_INSTANCE_H_
#define DEADHEAT_BENCHMARK_INSTANCE_H_

#include <string>
#include <vector>

#include "benchmark/benchmark_api.h"
#include "benchmark/reporter.h"

namespace benchmark {
namespace internal {

class BenchmarkInstance {
 public:
  BenchmarkInstance(Benchmark& benchmark, std::vector<int64_t> args, int threads);

  const BenchmarkName& name() const { return name_; }
  const Settings& settings() const { return benchmark_->settings(); }
  const std::vector<int64_t>& args() const { return args_; }
  int threads() const { return threads_; }
  TimeUnit time_unit() const { return benchmark_->GetTimeUnit(); }

  // Calls the user's function once on this thread. `iterations` is what `state.max_iterations` says, if it is known.
  State run(IterationCount iterations, int thread, Batches& batches) const;
  void setup() const;
  void teardown() const;

  // Positions among the rows that the filter selects.
  int family_index = 0;
  int per_family_instance_index = 0;

 private:
  Benchmark* benchmark_;
  std::vector<int64_t> args_;
  int threads_;
  BenchmarkName name_;
};

// Whether deadheat started this process.
bool is_worker();

// Serves deadheat's requests and returns the exit status of the process. Defined in worker.cc.
int run_as_worker(const std::vector<BenchmarkInstance>& instances);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_INSTANCE_H_
