#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace benchmark {

double StatisticsMean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double StatisticsMedian(const std::vector<double>& values) {
  if (values.empty()) return 0;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double StatisticsStdDev(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = StatisticsMean(values);
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double StatisticsCV(const std::vector<double>& values) {
  const double mean = StatisticsMean(values);
  return values.size() < 2 || mean == 0 ? 0 : StatisticsStdDev(values) / mean;
}

namespace internal {
namespace {

typedef BenchmarkReporter::Run Run;

struct CounterValues {
  Counter first;
  std::vector<double> values;
};

std::map<std::string, CounterValues> collect_counters(const std::vector<const Run*>& runs) {
  std::map<std::string, CounterValues> collected;
  for (const Run* run : runs) {
    for (const auto& counter : run->counters) {
      CounterValues& entry = collected.insert({counter.first, {counter.second, {}}}).first->second;
      entry.values.push_back(counter.second.value);
    }
  }
  return collected;
}

template <class Get>
std::vector<double> collect(const std::vector<const Run*>& runs, Get get) {
  std::vector<double> values;
  for (const Run* run : runs) values.push_back(get(*run));
  return values;
}

// The label of all runs, if it is the same.
std::string common_label(const std::vector<const Run*>& runs) {
  const std::string& label = runs.front()->report_label;
  const bool same = std::all_of(runs.begin(), runs.end(), [&](const Run* run) { return run->report_label == label; });
  return same ? label : "";
}

Run aggregate_like(const Run& model, const Statistics& statistic) {
  Run run;
  run.run_name = model.run_name;
  run.family_index = model.family_index;
  run.per_family_instance_index = model.per_family_instance_index;
  run.run_type = Run::RT_Aggregate;
  run.threads = model.threads;
  run.repetitions = model.repetitions;
  run.repetition_index = Run::no_repetition_index;
  run.aggregate_name = statistic.name_;
  run.aggregate_unit = statistic.unit_;
  run.time_unit = model.time_unit;
  return run;
}

}  // namespace

std::vector<Statistics> default_statistics() {
  return {{"mean", StatisticsMean},
          {"median", StatisticsMedian},
          {"stddev", StatisticsStdDev},
          {"cv", StatisticsCV, kPercentage}};
}

std::vector<Run> aggregates(const std::vector<Run>& repetitions) {
  std::vector<const Run*> runs;
  for (const Run& run : repetitions) {
    if (run.skipped == NotSkipped) runs.push_back(&run);
  }
  std::vector<Run> results;
  if (runs.size() < 2) return results;

  const std::vector<double> real = collect(runs, [](const Run& run) { return run.real_accumulated_time; });
  const std::vector<double> cpu = collect(runs, [](const Run& run) { return run.cpu_accumulated_time; });
  const std::map<std::string, CounterValues> counters = collect_counters(runs);
  // An aggregate's "iterations" are its repetitions, and reporters divide by them.
  const double count = static_cast<double>(runs.size());
  const double per_iteration = count / static_cast<double>(runs.front()->iterations);

  for (const Statistics& statistic : *runs.front()->statistics) {
    Run run = aggregate_like(*runs.front(), statistic);
    const double scale = statistic.unit_ == kTime ? per_iteration : 1;
    run.iterations = static_cast<IterationCount>(runs.size());
    run.report_label = common_label(runs);
    run.real_accumulated_time = statistic.compute_(real) * scale;
    run.cpu_accumulated_time = statistic.compute_(cpu) * scale;
    for (const auto& counter : counters) {
      const Counter& first = counter.second.first;
      run.counters[counter.first] = Counter(statistic.compute_(counter.second.values), first.flags, first.oneK);
    }
    results.push_back(run);
  }
  return results;
}

}  // namespace internal
}  // namespace benchmark
