// The calls by which a suite configures a benchmark.
#include "benchmark/benchmark_api.h"
#include "benchmark/sysinfo.h"
#include "ranges.h"
#include "statistics.h"

namespace benchmark {

Benchmark::Benchmark(const std::string& name) {
  settings_.name = name;
  settings_.statistics = internal::default_statistics();
}

Benchmark::~Benchmark() = default;

Benchmark* Benchmark::Name(const std::string& name) {
  SetName(name);
  return this;
}

Benchmark* Benchmark::Arg(int64_t value) { return Args({value}); }

Benchmark* Benchmark::Args(const std::vector<int64_t>& values) {
  settings_.args.push_back(values);
  return this;
}

Benchmark* Benchmark::ArgName(const std::string& name) { return ArgNames({name}); }

Benchmark* Benchmark::ArgNames(const std::vector<std::string>& names) {
  settings_.arg_names = names;
  return this;
}

Benchmark* Benchmark::Range(int64_t start, int64_t limit) { return Ranges({{start, limit}}); }

Benchmark* Benchmark::Ranges(const std::vector<std::pair<int64_t, int64_t>>& ranges) {
  std::vector<std::vector<int64_t>> lists;
  for (const auto& range : ranges) {
    lists.push_back(internal::geometric_range(range.first, range.second, settings_.range_multiplier));
  }
  return ArgsProduct(lists);
}

Benchmark* Benchmark::RangeMultiplier(int multiplier) {
  settings_.range_multiplier = multiplier;
  return this;
}

Benchmark* Benchmark::DenseRange(int64_t start, int64_t limit, int step) {
  return ArgsProduct({internal::dense_range(start, limit, step)});
}

Benchmark* Benchmark::ArgsProduct(const std::vector<std::vector<int64_t>>& lists) {
  for (const std::vector<int64_t>& row : internal::product(lists)) settings_.args.push_back(row);
  return this;
}

Benchmark* Benchmark::Apply(const std::function<void(Benchmark*)>& configure) {
  configure(this);
  return this;
}

Benchmark* Benchmark::Threads(int count) {
  settings_.thread_counts.push_back(count);
  return this;
}

Benchmark* Benchmark::ThreadRange(int min_threads, int max_threads) {
  for (int64_t count : internal::geometric_range(min_threads, max_threads, 2)) Threads(static_cast<int>(count));
  return this;
}

Benchmark* Benchmark::DenseThreadRange(int min_threads, int max_threads, int stride) {
  for (int count = min_threads; count < max_threads; count += stride) Threads(count);
  return Threads(max_threads);
}

Benchmark* Benchmark::ThreadPerCpu() { return Threads(CPUInfo::Get().num_cpus); }

Benchmark* Benchmark::ThreadRunner(threadrunner_factory&& factory) {
  settings_.thread_runner = std::move(factory);
  return this;
}

Benchmark* Benchmark::Unit(TimeUnit unit) {
  settings_.has_unit = true;
  settings_.unit = unit;
  return this;
}

Benchmark* Benchmark::MinTime(double seconds) {
  settings_.min_time = seconds;
  return this;
}

Benchmark* Benchmark::MinWarmUpTime(double seconds) {
  settings_.min_warmup_time = seconds;
  return this;
}

Benchmark* Benchmark::Iterations(IterationCount n) {
  settings_.iterations = n;
  return this;
}

Benchmark* Benchmark::Repetitions(int n) {
  settings_.repetitions = n;
  return this;
}

Benchmark* Benchmark::MeasureProcessCPUTime() {
  settings_.process_cpu_time = true;
  return this;
}

Benchmark* Benchmark::UseRealTime() {
  settings_.real_time = true;
  return this;
}

Benchmark* Benchmark::UseManualTime() {
  settings_.manual_time = true;
  return this;
}

Benchmark* Benchmark::Setup(const callback_function& setup) {
  settings_.setup = setup;
  return this;
}

Benchmark* Benchmark::Teardown(const callback_function& teardown) {
  settings_.teardown = teardown;
  return this;
}

Benchmark* Benchmark::Complexity(BigO complexity) {
  settings_.complexity = complexity;
  return this;
}

Benchmark* Benchmark::Complexity(BigOFunc* complexity) {
  settings_.complexity = oLambda;
  settings_.complexity_function = complexity;
  return this;
}

Benchmark* Benchmark::ComputeStatistics(const std::string& name, StatisticsFunc* statistics, StatisticUnit unit) {
  settings_.statistics.emplace_back(name, statistics, unit);
  return this;
}

Benchmark* Benchmark::ReportAggregatesOnly(bool value) {
  settings_.report_mode = value ? internal::ARM_ReportAggregatesOnly : internal::ARM_Default;
  return this;
}

Benchmark* Benchmark::DisplayAggregatesOnly(bool value) {
  const unsigned others = settings_.report_mode & ~internal::ARM_DisplayReportAggregatesOnly;
  const unsigned display = value ? unsigned{internal::ARM_DisplayReportAggregatesOnly} : 0U;
  settings_.report_mode = static_cast<internal::AggregationReportMode>(internal::ARM_Default | others | display);
  return this;
}

TimeUnit Benchmark::GetTimeUnit() const { return settings_.has_unit ? settings_.unit : GetDefaultTimeUnit(); }

int Benchmark::ArgsCnt() const {
  if (!settings_.args.empty()) return static_cast<int>(settings_.args.front().size());
  return settings_.arg_names.empty() ? -1 : static_cast<int>(settings_.arg_names.size());
}

namespace internal {

void FunctionBenchmark::Run(State& state) { function_(state); }

}  // namespace internal
}  // namespace benchmark
