// The worker's part of the command line.
#ifndef DEADHEAT_BENCHMARK_WORKER_H_
#define DEADHEAT_BENCHMARK_WORKER_H_

namespace benchmark {
namespace internal {

struct WorkerArguments {
  // Every block gets a new call of the function.
  bool fresh = false;
};

WorkerArguments& worker_arguments();

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_WORKER_H_
