// All registered benchmarks, in the order of registration.
#ifndef DEADHEAT_BENCHMARK_REGISTRY_H_
#define DEADHEAT_BENCHMARK_REGISTRY_H_

#include <string>
#include <vector>

#include "instance.h"

namespace benchmark {
namespace internal {

struct Selection {
  std::vector<BenchmarkInstance> instances;
  std::string error;  // why the filter could not be read; empty if it could
};

// The rows whose full name contains a match of the extended regular expression `filter`, or, if it starts with '-',
// contains none. An empty filter and "all" select every row; names that begin with DISABLED_ are never selected.
Selection instances(const std::string& filter);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_REGISTRY_H_
