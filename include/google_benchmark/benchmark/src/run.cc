// RunSpecifiedBenchmarks: lists, races or runs the selected rows.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <random>

#include "benchmark/benchmark_api.h"
#include "benchmark/reporter.h"
#include "complexity.h"
#include "managers.h"
#include "options.h"
#include "registry.h"
#include "reporters.h"
#include "row_runner.h"
#include "statistics.h"

namespace benchmark {
namespace internal {
namespace {

typedef std::vector<BenchmarkReporter::Run> Runs;

// The display, and the file if there is one.
struct Reporters {
  BenchmarkReporter* display;
  BenchmarkReporter* file;

  template <class Visit>
  void each(Visit visit) const {
    for (BenchmarkReporter* reporter : {display, file}) {
      if (reporter == nullptr) continue;
      visit(*reporter);
      reporter->GetOutputStream().flush();
      reporter->GetErrorStream().flush();
    }
  }
};

size_t name_width(const std::vector<RowRunner>& rows) {
  size_t name = 10, statistic = 0;
  bool repeated = false;
  for (const RowRunner& row : rows) {
    name = std::max(name, row.instance().name().str().size());
    repeated |= row.repetitions() > 1;
    for (const Statistics& s : row.instance().settings().statistics) statistic = std::max(statistic, s.name_.size());
  }
  return repeated ? name + 1 + statistic : name;
}

// One entry for each repetition: the row that it belongs to.
std::vector<RowRunner*> schedule(std::vector<RowRunner>& rows) {
  std::vector<RowRunner*> order;
  for (RowRunner& row : rows) order.insert(order.end(), static_cast<size_t>(row.repetitions()), &row);
  if (options().random_interleaving) std::shuffle(order.begin(), order.end(), std::mt19937(std::random_device()()));
  return order;
}

bool aggregates_only(const BenchmarkInstance& instance, bool in_file) {
  const AggregationReportMode mode = instance.settings().report_mode;
  if (mode != ARM_Unspecified) {
    return mode & (in_file ? ARM_FileReportAggregatesOnly : ARM_DisplayReportAggregatesOnly);
  }
  return options().report_aggregates_only || (!in_file && options().display_aggregates_only);
}

// Runs the rows of one program and reports each as soon as its last repetition is done.
class Program {
 public:
  Program(std::vector<RowRunner> rows, Reporters reporters) : rows_(std::move(rows)), reporters_(reporters) {
    for (const RowRunner& row : rows_) families_[row.instance().family_index].unfinished += 1;
  }

  void run() {
    BenchmarkReporter::Context context;
    context.name_field_width = name_width(rows_);
    bool wanted = true;
    reporters_.each([&](BenchmarkReporter& reporter) { wanted = wanted && reporter.ReportContext(context); });
    if (wanted) run_rows();
    reporters_.each([](BenchmarkReporter& reporter) { reporter.Finalize(); });
  }

 private:
  // The finished rows of a family, from which its complexity is fitted.
  struct Family {
    int unfinished = 0;
    Runs runs;
  };

  void run_rows() {
    for (RowRunner* row : schedule(rows_)) {
      row->run_repetition();
      if (row->done()) report(*row);
    }
  }

  void report(const RowRunner& row) {
    Runs summary = aggregates(row.runs());
    const Runs fit = fit_family(row);
    summary.insert(summary.end(), fit.begin(), fit.end());

    reporters_.each([&](BenchmarkReporter& reporter) {
      reporter.ReportRunsConfig(row.min_time(), row.has_fixed_iterations(), row.iterations());
      const bool in_file = &reporter == reporters_.file;
      if (summary.empty() || !aggregates_only(row.instance(), in_file)) reporter.ReportRuns(row.runs());
      if (!summary.empty()) reporter.ReportRuns(summary);
    });
  }

  // The complexity of the family whose last row is `row`; empty before.
  Runs fit_family(const RowRunner& row) {
    if (row.instance().settings().complexity == oNone) return {};
    Family& family = families_[row.instance().family_index];
    for (const BenchmarkReporter::Run& run : row.runs()) {
      if (run.skipped == NotSkipped) family.runs.push_back(run);
    }
    family.unfinished -= 1;
    return family.unfinished == 0 ? fit_complexity(family.runs) : Runs();
  }

  std::vector<RowRunner> rows_;
  Reporters reporters_;
  std::map<int, Family> families_;
};

[[noreturn]] void fail(BenchmarkReporter& display, const std::string& message) {
  display.GetErrorStream() << message << std::endl;
  display.GetOutputStream().flush();
  std::exit(1);
}

// Opens --benchmark_out and owns its reporter, unless the suite brings one.
class OutputFile {
 public:
  OutputFile(BenchmarkReporter& display, BenchmarkReporter* own) : reporter_(own) {
    const std::string& path = options().out;
    if (path.empty()) {
      if (own != nullptr)
        fail(display, "A custom file reporter was provided but --benchmark_out=<file> was not specified.");
      return;
    }
    stream_.open(path);
    if (!stream_.is_open()) fail(display, "invalid file name: '" + path + "'");
    if (reporter_ == nullptr) {
      default_ = make_reporter(options().out_format,
                               options().counters_tabular ? ConsoleReporter::OO_Tabular : ConsoleReporter::OO_None);
      reporter_ = default_.get();
    }
    reporter_->SetOutputStream(&stream_);
    reporter_->SetErrorStream(&stream_);
  }

  BenchmarkReporter* reporter() const { return reporter_; }

 private:
  BenchmarkReporter* reporter_;
  std::ofstream stream_;
  std::unique_ptr<BenchmarkReporter> default_;
};

// The rows that the filter selects. A wrong filter ends the program, because a program without rows would seem to work.
std::vector<BenchmarkInstance> selected(const std::string& filter) {
  Selection selection = instances(filter);
  if (selection.error.empty()) return std::move(selection.instances);
  std::cout.flush();
  std::cerr << "error: --benchmark_filter: cannot read the regular expression '" << filter << "': " << selection.error
            << std::endl;
  std::exit(1);
}

size_t run(BenchmarkReporter& display, BenchmarkReporter* own_file, const std::string& filter) {
  const OutputFile file(display, own_file);
  const std::vector<BenchmarkInstance> instances = selected(filter);
  if (instances.empty()) {
    display.GetErrorStream() << "Failed to match any benchmarks against regex: " << (filter.empty() ? "." : filter)
                             << std::endl;
    return 0;
  }
  if (!options().perf_counters.empty()) {
    display.GetErrorStream() << "***WARNING*** This library does not support --benchmark_perf_counters.\n";
  }
  if (options().list_tests) {
    display.List(instances);
    display.GetOutputStream().flush();
  } else {
    std::vector<RowRunner> rows(instances.begin(), instances.end());
    Program(std::move(rows), {&display, file.reporter()}).run();
  }
  return instances.size();
}

}  // namespace
}  // namespace internal

size_t RunSpecifiedBenchmarks(BenchmarkReporter* display, BenchmarkReporter* file, std::string filter) {
  if (internal::is_worker()) std::exit(internal::run_as_worker(internal::selected(filter)));
  std::unique_ptr<BenchmarkReporter> default_display;
  if (display == nullptr) {
    default_display = CreateDefaultDisplayReporter();
    display = default_display.get();
  }
  return internal::run(*display, file, filter);
}

size_t RunSpecifiedBenchmarks() { return RunSpecifiedBenchmarks(nullptr, nullptr, GetBenchmarkFilter()); }

size_t RunSpecifiedBenchmarks(std::string filter) {
  return RunSpecifiedBenchmarks(nullptr, nullptr, std::move(filter));
}

size_t RunSpecifiedBenchmarks(BenchmarkReporter* display) {
  return RunSpecifiedBenchmarks(display, nullptr, GetBenchmarkFilter());
}

size_t RunSpecifiedBenchmarks(BenchmarkReporter* display, std::string filter) {
  return RunSpecifiedBenchmarks(display, nullptr, std::move(filter));
}

size_t RunSpecifiedBenchmarks(BenchmarkReporter* display, BenchmarkReporter* file) {
  return RunSpecifiedBenchmarks(display, file, GetBenchmarkFilter());
}

void RegisterMemoryManager(MemoryManager* manager) { internal::managers().memory = manager; }
void RegisterProfilerManager(ProfilerManager* manager) { internal::managers().profiler = manager; }

}  // namespace benchmark
