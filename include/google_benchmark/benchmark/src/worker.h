// The worker's part of the command line.
#ifndef DEADHEAT_BENCHMARK_WORKER_H_
#define DEADHEAT_BENCHMARK_WORKER_H_

#include <string>

namespace benchmark {
namespace internal {

struct WorkerArguments {
  // Every block gets a new call of the function.
  bool fresh = false;
  // The names of options of Google Benchmark that a race ignores, with commas.
  std::string ignored;
};

WorkerArguments& worker_arguments();

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_WORKER_H_
