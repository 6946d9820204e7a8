// Runs one row as Google Benchmark does: finds the number of iterations, then repeats.
#ifndef DEADHEAT_BENCHMARK_ROW_RUNNER_H_
#define DEADHEAT_BENCHMARK_ROW_RUNNER_H_

#include <vector>

#include "benchmark/reporter.h"
#include "instance.h"
#include "team.h"

namespace benchmark {
namespace internal {

class RowRunner {
 public:
  explicit RowRunner(const BenchmarkInstance& instance);

  const BenchmarkInstance& instance() const { return *instance_; }
  int repetitions() const { return repetitions_; }
  bool done() const { return static_cast<int>(runs_.size()) == repetitions_; }
  double min_time() const { return min_time_; }
  bool has_fixed_iterations() const { return fixed_iterations_; }
  IterationCount iterations() const { return iterations_; }
  const std::vector<BenchmarkReporter::Run>& runs() const { return runs_; }

  // Appends to `runs`.
  void run_repetition();

 private:
  // One call of the function on all threads.
  struct Attempt {
    Totals totals;
    IterationCount iterations;  // of each thread
    double seconds;             // by the clock that the row asks for
  };

  Attempt attempt() const;
  bool is_long_enough(const Attempt& attempt, double min_time) const;
  IterationCount more_iterations(const Attempt& attempt, double min_time) const;
  // Repeats with more iterations until one attempt is long enough.
  Attempt grow(double min_time);
  void warm_up();
  MemoryManager::Result measure_memory() const;
  void profile() const;
  BenchmarkReporter::Run report(const Attempt& attempt, const MemoryManager::Result& memory) const;

  const BenchmarkInstance* instance_;
  double min_time_;
  double min_warmup_time_;
  int repetitions_;
  bool fixed_iterations_;
  IterationCount iterations_;
  std::vector<BenchmarkReporter::Run> runs_;
};

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_ROW_RUNNER_H_
