// Fits the growth of a family's time with its argument.
#ifndef DEADHEAT_BENCHMARK_COMPLEXITY_H_
#define DEADHEAT_BENCHMARK_COMPLEXITY_H_

#include <string>
#include <vector>

#include "benchmark/reporter.h"

namespace benchmark {
namespace internal {

// The notation of a complexity class, such as "NlgN".
std::string big_o_string(BigO complexity);

// The coefficient and the root mean square error of the fit, as two runs; none for fewer than two rows.
std::vector<BenchmarkReporter::Run> fit_complexity(const std::vector<BenchmarkReporter::Run>& rows);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_COMPLEXITY_H_
