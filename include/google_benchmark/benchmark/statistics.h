// Complexity classes, aggregates over repetitions, and which of them are reported.
#ifndef BENCHMARK_STATISTICS_H_
#define BENCHMARK_STATISTICS_H_

#include <string>
#include <vector>

#include "benchmark/types.h"

namespace benchmark {

enum BigO { oNone, o1, oN, oNSquared, oNCubed, oLogN, oNLogN, oAuto, oLambda };

typedef int64_t ComplexityN;
typedef double(BigOFunc)(ComplexityN);

enum StatisticUnit { kTime, kPercentage };

typedef double(StatisticsFunc)(const std::vector<double>&);

namespace internal {

struct Statistics {
  std::string name_;
  StatisticsFunc* compute_;
  StatisticUnit unit_;

  Statistics(const std::string& name, StatisticsFunc* compute, StatisticUnit unit = kTime)
      : name_(name), compute_(compute), unit_(unit) {}
};

enum AggregationReportMode : unsigned {
  ARM_Unspecified = 0,
  ARM_Default = 1U << 0U,
  ARM_FileReportAggregatesOnly = 1U << 1U,
  ARM_DisplayReportAggregatesOnly = 1U << 2U,
  ARM_ReportAggregatesOnly = ARM_FileReportAggregatesOnly | ARM_DisplayReportAggregatesOnly
};

enum Skipped : unsigned { NotSkipped = 0, SkippedWithMessage, SkippedWithError };

}  // namespace internal
}  // namespace benchmark

#endif  // BENCHMARK_STATISTICS_H_
