// The command-line options, which environment variables of the same names in capitals preset.
#ifndef DEADHEAT_BENCHMARK_OPTIONS_H_
#define DEADHEAT_BENCHMARK_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "benchmark/types.h"

namespace benchmark {
namespace internal {

struct Options {
  bool list_tests = false;
  std::string filter;
  std::string min_time = "0.5s";
  double min_warmup_time = 0;
  int32_t repetitions = 1;
  bool dry_run = false;
  bool random_interleaving = false;
  bool report_aggregates_only = false;
  bool display_aggregates_only = false;
  std::string format = "console";
  std::string out_format = "json";
  std::string out;
  std::string color = "auto";
  bool counters_tabular = false;
  std::string perf_counters;
  std::map<std::string, std::string> context;
  std::string time_unit;
  int32_t verbosity = 0;
};

// The options of this process.
Options& options();

// The meaning of --benchmark_min_time: seconds (`0.5s`) or a number of iterations (`100x`).
struct MinTime {
  double seconds;
  IterationCount iterations;  // 0 if seconds are given
};
MinTime parse_min_time(const std::string& text);

// False for "0", "f", "no", "off" and the like.
bool is_truthy(const std::string& text);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_OPTIONS_H_
