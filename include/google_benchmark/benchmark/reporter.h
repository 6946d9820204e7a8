// Reporters: what they are given, and the three that come with the library. Suites derive their own from them.
#ifndef BENCHMARK_REPORTER_H_
#define BENCHMARK_REPORTER_H_

#include <cassert>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "benchmark/counter.h"
#include "benchmark/macros.h"
#include "benchmark/managers.h"
#include "benchmark/statistics.h"
#include "benchmark/sysinfo.h"
#include "benchmark/types.h"

namespace benchmark {

namespace internal {
class BenchmarkInstance;
}  // namespace internal

// A row's name in its parts; `str` joins those that are not empty by slashes.
struct BENCHMARK_EXPORT BenchmarkName {
  std::string function_name;
  std::string args;
  std::string min_time;
  std::string min_warmup_time;
  std::string iterations;
  std::string repetitions;
  std::string time_type;
  std::string threads;

  std::string str() const;
};

class BENCHMARK_EXPORT BenchmarkReporter {
 public:
  struct BENCHMARK_EXPORT Context {
    Context();

    CPUInfo const& cpu_info;
    SystemInfo const& sys_info;
    size_t name_field_width;
    static const char* executable_name;
  };

  // One repetition of a row, or one aggregate over its repetitions.
  struct BENCHMARK_EXPORT Run {
    static const int64_t no_repetition_index = -1;
    enum RunType { RT_Iteration, RT_Aggregate };

    Run();

    std::string benchmark_name() const;
    // In the row's unit, for each iteration.
    double GetAdjustedRealTime() const;
    double GetAdjustedCPUTime() const;

    BenchmarkName run_name;
    int64_t family_index;
    int64_t per_family_instance_index;
    RunType run_type;
    std::string aggregate_name;
    StatisticUnit aggregate_unit;
    std::string report_label;
    internal::Skipped skipped;
    std::string skip_message;
    // The same under the names of releases up to 1.7.
    bool error_occurred;
    std::string error_message;

    IterationCount iterations;
    int64_t threads;
    int64_t repetition_index;
    int64_t repetitions;
    TimeUnit time_unit;
    double real_accumulated_time;
    double cpu_accumulated_time;
    double max_heapbytes_used;

    bool use_real_time_for_initial_big_o;
    BigO complexity;
    BigOFunc* complexity_lambda;
    ComplexityN complexity_n;
    const std::vector<internal::Statistics>* statistics;
    bool report_big_o;
    bool report_rms;

    UserCounters counters;
    MemoryManager::Result memory_result;
    double allocs_per_iter;
  };

  struct PerFamilyRunReports {
    PerFamilyRunReports() : num_runs_total(0), num_runs_done(0) {}
    int num_runs_total;
    int num_runs_done;
    std::vector<Run> Runs;
  };

  BenchmarkReporter();
  virtual ~BenchmarkReporter();

  // Returns false to run nothing.
  virtual bool ReportContext(const Context& context) = 0;
  virtual void ReportRunsConfig(double /*min_time*/, bool /*has_explicit_iters*/, IterationCount /*iters*/) {}
  virtual void ReportRuns(const std::vector<Run>& report) = 0;
  virtual void Finalize() {}
  // Called instead of the others for --benchmark_list_tests.
  virtual void List(const std::vector<internal::BenchmarkInstance>& benchmarks);

  void SetOutputStream(std::ostream* out) {
    assert(out);
    output_stream_ = out;
  }
  void SetErrorStream(std::ostream* err) {
    assert(err);
    error_stream_ = err;
  }
  std::ostream& GetOutputStream() const { return *output_stream_; }
  std::ostream& GetErrorStream() const { return *error_stream_; }

  static void PrintBasicContext(std::ostream* out, Context const& context);

 private:
  std::ostream* output_stream_;
  std::ostream* error_stream_;
};

class BENCHMARK_EXPORT ConsoleReporter : public BenchmarkReporter {
 public:
  enum OutputOptions {
    OO_None = 0,
    OO_Color = 1,
    OO_Tabular = 2,
    OO_ColorTabular = OO_Color | OO_Tabular,
    OO_Defaults = OO_ColorTabular
  };

  explicit ConsoleReporter(OutputOptions options = OO_Defaults)
      : output_options_(options), name_field_width_(0), printed_header_(false) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& reports) override;

 protected:
  virtual void PrintRunData(const Run& result);
  virtual void PrintHeader(const Run& run);

  OutputOptions output_options_;
  size_t name_field_width_;
  UserCounters prev_counters_;
  bool printed_header_;
};

class BENCHMARK_EXPORT JSONReporter : public BenchmarkReporter {
 public:
  JSONReporter() : first_report_(true) {}
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& reports) override;
  void Finalize() override;
  void List(const std::vector<internal::BenchmarkInstance>& benchmarks) override;

 private:
  void PrintRunData(const Run& run);

  bool first_report_;
};

class BENCHMARK_EXPORT CSVReporter : public BenchmarkReporter {
 public:
  CSVReporter() : printed_header_(false) {}
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& reports) override;
  void List(const std::vector<internal::BenchmarkInstance>& benchmarks) override;

 private:
  void PrintHeader(const std::vector<Run>& reports);
  void PrintRunData(const Run& run);

  bool printed_header_;
  std::set<std::string> user_counter_names_;
};

inline const char* GetTimeUnitString(TimeUnit unit) {
  switch (unit) {
    case kSecond: return "s";
    case kMillisecond: return "ms";
    case kMicrosecond: return "us";
    case kNanosecond: return "ns";
  }
  BENCHMARK_UNREACHABLE();
}

inline double GetTimeUnitMultiplier(TimeUnit unit) {
  switch (unit) {
    case kSecond: return 1;
    case kMillisecond: return 1e3;
    case kMicrosecond: return 1e6;
    case kNanosecond: return 1e9;
  }
  BENCHMARK_UNREACHABLE();
}

}  // namespace benchmark

#endif  // BENCHMARK_REPORTER_H_
