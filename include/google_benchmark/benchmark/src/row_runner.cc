#include "row_runner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "counters.h"
#include "managers.h"
#include "options.h"

namespace benchmark {
namespace internal {
namespace {

const IterationCount kMostIterations = 1000000000000;
const double kDefaultMinTime = 0.5;
// Allocations of a few iterations are enough, and one-time ones weigh less than in a single iteration.
const IterationCount kMemoryIterations = 16;

void log(int level, const char* what, double value) {
  if (options().verbosity >= level) std::fprintf(stderr, "-- LOG(%d): %s%g\n", level, what, value);
}

}  // namespace

RowRunner::RowRunner(const BenchmarkInstance& instance) : instance_(&instance) {
  const Settings& settings = instance.settings();
  const Options& flags = options();
  const MinTime flag = parse_min_time(flags.min_time);

  fixed_iterations_ = settings.iterations != 0 || flag.iterations != 0;
  iterations_ = settings.iterations != 0 ? settings.iterations : fixed_iterations_ ? flag.iterations : 1;
  min_time_ = settings.min_time > 0 ? settings.min_time : flag.iterations != 0 ? kDefaultMinTime : flag.seconds;
  const bool own_warm_up = settings.min_time > 0 && settings.min_warmup_time > 0;
  min_warmup_time_ = own_warm_up ? settings.min_warmup_time : flags.min_warmup_time;
  repetitions_ = settings.repetitions != 0 ? settings.repetitions : std::max(flags.repetitions, 1);

  if (flags.dry_run) {
    fixed_iterations_ = true;
    iterations_ = 1;
    min_time_ = min_warmup_time_ = 0;
    repetitions_ = 1;
  }
}

RowRunner::Attempt RowRunner::attempt() const {
  log(2, ("Running " + instance_->name().str() + " for ").c_str(), static_cast<double>(iterations_));
  instance_->setup();
  Attempt attempt;
  attempt.totals = run_team(*instance_, iterations_);
  instance_->teardown();

  // KeepRunningBatch may run more than it is asked for.
  attempt.iterations = attempt.totals.iterations / instance_->threads();
  const Settings& settings = instance_->settings();
  attempt.seconds = settings.manual_time ? attempt.totals.manual_time
                    : settings.real_time ? attempt.totals.real_time
                                         : attempt.totals.cpu_time;
  log(2, "Ran in ", attempt.seconds);
  return attempt;
}

bool RowRunner::is_long_enough(const Attempt& attempt, double min_time) const {
  // A row that mostly sleeps has little CPU time, and may not run for ever.
  const bool overdue = attempt.totals.real_time >= 5 * min_time && !instance_->settings().manual_time;
  return attempt.totals.skipped != NotSkipped || attempt.iterations >= kMostIterations || attempt.seconds >= min_time ||
         overdue;
}

IterationCount RowRunner::more_iterations(const Attempt& attempt, double min_time) const {
  // An attempt of less than a tenth of the time says little about how many are needed.
  const bool significant = attempt.seconds / min_time > 0.1;
  const double factor = significant ? min_time * 1.4 / std::max(attempt.seconds, 1e-9) : 10;
  const double n = static_cast<double>(attempt.iterations);
  const IterationCount next = std::min<IterationCount>(std::llround(std::max(factor * n, n + 1)), kMostIterations);
  log(3, "Next iters: ", static_cast<double>(next));
  return next;
}

RowRunner::Attempt RowRunner::grow(double min_time) {
  for (;;) {
    Attempt last = attempt();
    if (is_long_enough(last, min_time)) return last;
    iterations_ = more_iterations(last, min_time);
  }
}

void RowRunner::warm_up() {
  const IterationCount before = iterations_;
  grow(min_warmup_time_);
  iterations_ = before;
}

void RowRunner::run_repetition() {
  const bool first = runs_.empty();
  if (first && min_warmup_time_ > 0) warm_up();
  const Attempt last = first && !fixed_iterations_ ? grow(min_time_) : attempt();

  MemoryManager::Result memory;
  if (managers().memory != nullptr) memory = measure_memory();
  if (managers().profiler != nullptr) profile();
  runs_.push_back(report(last, memory));
}

MemoryManager::Result RowRunner::measure_memory() const {
  const IterationCount iterations = std::min(kMemoryIterations, iterations_);
  MemoryManager::Result result;
  instance_->setup();
  managers().memory->Start();
  run_alone(*instance_, iterations, nullptr);
  managers().memory->Stop(result);
  instance_->teardown();
  result.memory_iterations = iterations;
  return result;
}

void RowRunner::profile() const {
  instance_->setup();
  run_alone(*instance_, iterations_, managers().profiler);
  instance_->teardown();
}

BenchmarkReporter::Run RowRunner::report(const Attempt& attempt, const MemoryManager::Result& memory) const {
  const Settings& settings = instance_->settings();
  const Totals& totals = attempt.totals;
  BenchmarkReporter::Run run;
  run.run_name = instance_->name();
  run.family_index = instance_->family_index;
  run.per_family_instance_index = instance_->per_family_instance_index;
  run.skipped = totals.skipped;
  run.skip_message = totals.skip_message;
  run.error_occurred = totals.skipped == SkippedWithError;
  if (run.error_occurred) run.error_message = totals.skip_message;
  run.report_label = totals.label;
  run.iterations = totals.iterations;
  run.time_unit = instance_->time_unit();
  run.threads = instance_->threads();
  run.repetition_index = static_cast<int64_t>(runs_.size());
  run.repetitions = repetitions_;
  if (totals.skipped != NotSkipped) return run;

  run.real_accumulated_time = settings.manual_time ? totals.manual_time : totals.real_time;
  run.cpu_accumulated_time = totals.cpu_time;
  run.use_real_time_for_initial_big_o = settings.manual_time;
  run.complexity = settings.complexity;
  run.complexity_lambda = settings.complexity_function;
  run.complexity_n = totals.complexity_n;
  run.statistics = &settings.statistics;
  run.memory_result = memory;
  if (memory.memory_iterations > 0) {
    run.allocs_per_iter = static_cast<double>(memory.num_allocs) / static_cast<double>(memory.memory_iterations);
  }
  // `seconds` is the sum over the threads; a rate is by the time that passed.
  const double seconds = attempt.seconds / instance_->threads();
  run.counters = totals.counters;
  for (auto& counter : run.counters) {
    counter.second.value = finished(counter.second, totals.iterations, seconds, instance_->threads());
  }
  return run;
}

}  // namespace internal
}  // namespace benchmark
