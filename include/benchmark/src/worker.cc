#include <cstdio>

#include "instance.h"

namespace benchmark {
namespace internal {

int run_as_worker(const std::vector<BenchmarkInstance>&) {
  std::fputs("error: this executable cannot race: its benchmark library has no worker\n", stderr);
  return 1;
}

}  // namespace internal
}  // namespace benchmark
