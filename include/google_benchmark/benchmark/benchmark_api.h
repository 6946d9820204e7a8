// Registering benchmarks in code, and the functions that a `main` calls.
#ifndef BENCHMARK_BENCHMARK_API_H_
#define BENCHMARK_BENCHMARK_API_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "benchmark/counter.h"
#include "benchmark/macros.h"
#include "benchmark/state.h"
#include "benchmark/statistics.h"
#include "benchmark/types.h"

namespace benchmark {

const char kDefaultMinTimeStr[] = "0.5s";

// ---- For a `main` -------------------------------------------------------------------------------------------------

// Does nothing: deadheat draws the placement of every process itself, and a fixed one would bias a race.
BENCHMARK_EXPORT void MaybeReenterWithoutASLR(int argc, char** argv);

BENCHMARK_EXPORT std::string GetBenchmarkVersion();
BENCHMARK_EXPORT void PrintDefaultHelp();

// Takes the options that it knows out of `argv`.
BENCHMARK_EXPORT void Initialize(int* argc, char** argv, void (*print_help)() = PrintDefaultHelp);
BENCHMARK_EXPORT bool ReportUnrecognizedArguments(int argc, char** argv);
BENCHMARK_EXPORT void Shutdown();

BENCHMARK_EXPORT std::string GetBenchmarkFilter();
BENCHMARK_EXPORT void SetBenchmarkFilter(std::string value);
BENCHMARK_EXPORT int32_t GetBenchmarkVerbosity();
BENCHMARK_EXPORT TimeUnit GetDefaultTimeUnit();
BENCHMARK_EXPORT void SetDefaultTimeUnit(TimeUnit unit);
BENCHMARK_EXPORT void AddCustomContext(const std::string& key, const std::string& value);

// A unique pointer since 1.9.5, a plain one before.
class OwnedReporter : public std::unique_ptr<BenchmarkReporter> {
 public:
  using std::unique_ptr<BenchmarkReporter>::unique_ptr;
  operator BenchmarkReporter*() && { return release(); }
};
BENCHMARK_EXPORT OwnedReporter CreateDefaultDisplayReporter();

// Runs the benchmarks that the filter selects and returns how many it selects.
BENCHMARK_EXPORT size_t RunSpecifiedBenchmarks();
BENCHMARK_EXPORT size_t RunSpecifiedBenchmarks(std::string filter);
BENCHMARK_EXPORT size_t RunSpecifiedBenchmarks(BenchmarkReporter* display);
BENCHMARK_EXPORT size_t RunSpecifiedBenchmarks(BenchmarkReporter* display, std::string filter);
BENCHMARK_EXPORT size_t RunSpecifiedBenchmarks(BenchmarkReporter* display, BenchmarkReporter* file);
BENCHMARK_EXPORT size_t RunSpecifiedBenchmarks(BenchmarkReporter* display, BenchmarkReporter* file, std::string filter);

// ---- Registration -------------------------------------------------------------------------------------------------

struct ThreadRunnerBase {
  virtual ~ThreadRunnerBase() {}
  virtual void RunThreads(const std::function<void(int)>& run_thread) = 0;
};

typedef std::function<std::unique_ptr<ThreadRunnerBase>(int)> threadrunner_factory;

namespace internal {

// What the calls on a `Benchmark` ask for.
struct Settings {
  std::string name;
  std::vector<std::vector<int64_t>> args;
  std::vector<std::string> arg_names;
  std::vector<int> thread_counts;
  std::vector<Statistics> statistics;
  int range_multiplier = 8;
  bool has_unit = false;
  TimeUnit unit = kNanosecond;
  double min_time = 0;
  double min_warmup_time = 0;
  IterationCount iterations = 0;
  int repetitions = 0;
  bool process_cpu_time = false;
  bool real_time = false;
  bool manual_time = false;
  BigO complexity = oNone;
  BigOFunc* complexity_function = nullptr;
  AggregationReportMode report_mode = ARM_Unspecified;
  callback_function setup;
  callback_function teardown;
  threadrunner_factory thread_runner;
};

}  // namespace internal

class BENCHMARK_EXPORT Benchmark {
 public:
  virtual ~Benchmark();
  BENCHMARK_DISALLOW_COPY_AND_ASSIGN(Benchmark);

  Benchmark* Name(const std::string& name);

  Benchmark* Arg(int64_t value);
  Benchmark* Args(const std::vector<int64_t>& values);
  Benchmark* ArgPair(int64_t x, int64_t y) { return Args({x, y}); }
  Benchmark* ArgName(const std::string& name);
  Benchmark* ArgNames(const std::vector<std::string>& names);
  Benchmark* Range(int64_t start, int64_t limit);
  Benchmark* Ranges(const std::vector<std::pair<int64_t, int64_t>>& ranges);
  Benchmark* RangePair(int64_t lo1, int64_t hi1, int64_t lo2, int64_t hi2) { return Ranges({{lo1, hi1}, {lo2, hi2}}); }
  Benchmark* RangeMultiplier(int multiplier);
  Benchmark* DenseRange(int64_t start, int64_t limit, int step = 1);
  Benchmark* ArgsProduct(const std::vector<std::vector<int64_t>>& lists);
  Benchmark* Apply(const std::function<void(Benchmark*)>& configure);

  Benchmark* Threads(int count);
  Benchmark* ThreadRange(int min_threads, int max_threads);
  Benchmark* DenseThreadRange(int min_threads, int max_threads, int stride = 1);
  Benchmark* ThreadPerCpu();
  Benchmark* ThreadRunner(threadrunner_factory&& factory);

  Benchmark* Unit(TimeUnit unit);
  Benchmark* MinTime(double seconds);
  Benchmark* MinWarmUpTime(double seconds);
  Benchmark* Iterations(IterationCount n);
  Benchmark* Repetitions(int n);
  Benchmark* MeasureProcessCPUTime();
  Benchmark* UseRealTime();
  Benchmark* UseManualTime();

  Benchmark* Setup(const callback_function& setup);
  Benchmark* Teardown(const callback_function& teardown);

  Benchmark* Complexity(BigO complexity = oAuto);
  Benchmark* Complexity(BigOFunc* complexity);
  Benchmark* ComputeStatistics(const std::string& name, StatisticsFunc* statistics, StatisticUnit unit = kTime);
  Benchmark* ReportAggregatesOnly(bool value = true);
  Benchmark* DisplayAggregatesOnly(bool value = true);

  virtual void Run(State& state) = 0;

  TimeUnit GetTimeUnit() const;
  const char* GetName() const { return settings_.name.c_str(); }
  // The number of arguments of each row; -1 if nothing says how many.
  int ArgsCnt() const;
  const char* GetArgName(int arg) const { return settings_.arg_names[static_cast<std::size_t>(arg)].c_str(); }

  const internal::Settings& settings() const { return settings_; }

 protected:
  explicit Benchmark(const std::string& name);
  void SetName(const std::string& name) { settings_.name = name; }

 private:
  internal::Settings settings_;
};

namespace internal {

// The name of the class in releases before 1.9.5.
typedef ::benchmark::Benchmark Benchmark;
typedef ::benchmark::threadrunner_factory threadrunner_factory;

// Both take ownership.
BENCHMARK_EXPORT ::benchmark::Benchmark* RegisterBenchmarkInternal(::benchmark::Benchmark* benchmark);
BENCHMARK_EXPORT ::benchmark::Benchmark* RegisterBenchmarkInternal(std::unique_ptr<::benchmark::Benchmark> benchmark);

BENCHMARK_EXPORT std::map<std::string, std::string>*& GetGlobalContext();

// Constructs `std::cout` before static objects of the suite use it.
BENCHMARK_EXPORT int InitializeStreams();
BENCHMARK_UNUSED static int stream_init_anchor = InitializeStreams();

class BENCHMARK_EXPORT FunctionBenchmark : public ::benchmark::Benchmark {
 public:
  FunctionBenchmark(const std::string& name, Function* function) : Benchmark(name), function_(function) {}
  void Run(State& state) override;

 private:
  Function* function_;
};

template <class Lambda>
class LambdaBenchmark : public ::benchmark::Benchmark {
 public:
  template <class L>
  LambdaBenchmark(const std::string& name, L&& lambda) : Benchmark(name), lambda_(std::forward<L>(lambda)) {}
  void Run(State& state) override { lambda_(state); }

 private:
  Lambda lambda_;
};

}  // namespace internal

inline Benchmark* RegisterBenchmark(const std::string& name, internal::Function* function) {
  return internal::RegisterBenchmarkInternal(new internal::FunctionBenchmark(name, function));
}

template <class Lambda>
Benchmark* RegisterBenchmark(const std::string& name, Lambda&& lambda) {
  typedef internal::LambdaBenchmark<typename std::decay<Lambda>::type> Registered;
  return internal::RegisterBenchmarkInternal(new Registered(name, std::forward<Lambda>(lambda)));
}

template <class Lambda, class First, class... Rest>
Benchmark* RegisterBenchmark(const std::string& name, Lambda&& lambda, First&& first, Rest&&... rest) {
  return RegisterBenchmark(name, [=](State& state) { lambda(state, first, rest...); });
}

BENCHMARK_EXPORT void ClearRegisteredBenchmarks();

BENCHMARK_EXPORT std::vector<int64_t> CreateRange(int64_t lo, int64_t hi, int multiplier);
BENCHMARK_EXPORT std::vector<int64_t> CreateDenseRange(int64_t start, int64_t limit, int step);

// A benchmark with state of its own, set up before and torn down after each call of its function.
class Fixture : public Benchmark {
 public:
  Fixture() : Benchmark("") {}

  void Run(State& state) override {
    this->SetUp(state);
    this->BenchmarkCase(state);
    this->TearDown(state);
  }

  // A fixture overrides either form.
  virtual void SetUp(const State&) {}
  virtual void TearDown(const State&) {}
  virtual void SetUp(State& state) { SetUp(const_cast<const State&>(state)); }
  virtual void TearDown(State& state) { TearDown(const_cast<const State&>(state)); }

 protected:
  virtual void BenchmarkCase(State&) = 0;
};

}  // namespace benchmark

#endif  // BENCHMARK_BENCHMARK_API_H_
