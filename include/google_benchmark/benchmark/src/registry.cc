#include "registry.h"

#include <regex.h>

#include <memory>
#include <mutex>

namespace benchmark {
namespace internal {
namespace {

class Registry {
 public:
  static Registry& get() {
    static Registry registry;
    return registry;
  }

  Benchmark* add(std::unique_ptr<Benchmark> benchmark) {
    std::lock_guard<std::mutex> lock(mutex_);
    benchmarks_.push_back(std::move(benchmark));
    return benchmarks_.back().get();
  }

  void clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    benchmarks_.clear();
  }

  template <class Visit>
  void each(Visit visit) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& benchmark : benchmarks_) visit(*benchmark);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Benchmark>> benchmarks_;
};

class Filter {
 public:
  explicit Filter(std::string pattern) {
    negative_ = !pattern.empty() && pattern[0] == '-';
    if (negative_) pattern.erase(0, 1);
    if (pattern.empty() || (pattern == "all" && !negative_)) pattern = ".";
    const int code = regcomp(&regex_, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
    compiled_ = code == 0;
    if (compiled_) return;
    char message[256];
    regerror(code, &regex_, message, sizeof message);
    error_ = message;
  }
  ~Filter() {
    if (compiled_) regfree(&regex_);
  }
  BENCHMARK_DISALLOW_COPY_AND_ASSIGN(Filter);

  const std::string& error() const { return error_; }
  bool selects(const std::string& name) const {
    if (name.compare(0, 9, "DISABLED_") == 0) return false;
    return (regexec(&regex_, name.c_str(), 0, nullptr, 0) == 0) != negative_;
  }

 private:
  regex_t regex_;
  bool compiled_ = false;
  bool negative_ = false;
  std::string error_;
};

std::vector<BenchmarkInstance> rows_of(Benchmark& benchmark) {
  const Settings& settings = benchmark.settings();
  const std::vector<std::vector<int64_t>> no_args{{}};
  const std::vector<int> one_thread{1};
  std::vector<BenchmarkInstance> rows;
  for (const auto& args : benchmark.ArgsCnt() == -1 ? no_args : settings.args) {
    for (int threads : settings.thread_counts.empty() ? one_thread : settings.thread_counts) {
      rows.emplace_back(benchmark, args, threads);
    }
  }
  return rows;
}

}  // namespace

Selection instances(const std::string& pattern) {
  Selection selection;
  const Filter filter(pattern);
  if (!filter.error().empty()) {
    selection.error = filter.error();
    return selection;
  }
  int family = 0;
  Registry::get().each([&](Benchmark& benchmark) {
    int index = 0;
    for (BenchmarkInstance& row : rows_of(benchmark)) {
      if (!filter.selects(row.name().str())) continue;
      row.family_index = family;
      row.per_family_instance_index = index++;
      selection.instances.push_back(std::move(row));
    }
    if (index > 0) ++family;
  });
  return selection;
}

Benchmark* RegisterBenchmarkInternal(Benchmark* benchmark) {
  return RegisterBenchmarkInternal(std::unique_ptr<Benchmark>(benchmark));
}

Benchmark* RegisterBenchmarkInternal(std::unique_ptr<Benchmark> benchmark) {
  return Registry::get().add(std::move(benchmark));
}

}  // namespace internal

void ClearRegisteredBenchmarks() { internal::Registry::get().clear(); }

}  // namespace benchmark
