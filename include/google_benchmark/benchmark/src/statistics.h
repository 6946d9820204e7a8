// Aggregates over the repetitions of one row.
#ifndef DEADHEAT_BENCHMARK_STATISTICS_H_
#define DEADHEAT_BENCHMARK_STATISTICS_H_

#include <vector>

#include "benchmark/reporter.h"
#include "benchmark/statistics.h"

namespace benchmark {

// Named as in Google Benchmark, because suites call them.
BENCHMARK_EXPORT double StatisticsMean(const std::vector<double>& values);
BENCHMARK_EXPORT double StatisticsMedian(const std::vector<double>& values);
BENCHMARK_EXPORT double StatisticsStdDev(const std::vector<double>& values);
BENCHMARK_EXPORT double StatisticsCV(const std::vector<double>& values);

namespace internal {

std::vector<Statistics> default_statistics();

// One run for each statistic; none if fewer than two repetitions succeeded.
std::vector<BenchmarkReporter::Run> aggregates(const std::vector<BenchmarkReporter::Run>& repetitions);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_STATISTICS_H_
