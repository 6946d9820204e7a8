// Runs one benchmark function for deadheat: on its threads, batch by batch, and again when it has to restart.
#ifndef DEADHEAT_BENCHMARK_RACE_H_
#define DEADHEAT_BENCHMARK_RACE_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "calibration.h"
#include "phases.h"
#include "team.h"

namespace benchmark {
namespace internal {
namespace {

class Race;

// A kind of problem, next to those of the worker protocol.
const char kReportsError[] = "reports_error";

// The batches of one thread.
class Runner : public Batches {
 public:
  Runner(Race& race, int thread) : race_(race), thread_(thread) {}

  IterationCount next(State& state) override;
  IterationCount promise() override;
  void pause() override;
  void resume() override;
  void set_time(double seconds) override {
    manual_ns_ += 1e9 * seconds;
    has_set_time_ = true;
  }
  void skip(Skipped how, const std::string& message) override;
  void label(const std::string&) override {}

  int thread() const { return thread_; }
  const deadheat_reading_& reading() const { return reading_; }
  double manual_ns() const { return manual_ns_; }
  bool has_set_time() const { return has_set_time_; }
  IterationCount executed() const { return executed_; }
  bool has_left_loop() const { return has_left_loop_; }

 private:
  Race& race_;
  int thread_;
  deadheat_gauge_ gauge_ = {};
  deadheat_reading_ reading_ = {};
  double manual_ns_ = 0;
  bool has_set_time_ = false;
  IterationCount before_ = 0;
  IterationCount executed_ = 0;
  // With those of the current batch.
  IterationCount begun_ = 0;
  bool is_running_ = false;
  bool has_left_loop_ = false;
};

class Race {
 public:
  Race(Link& link, const BenchmarkInstance& instance, Restart restart, bool measures_manual_time);

  // Calls the function until deadheat says goodbye.
  void run();

 private:
  friend class Runner;

  struct Problem {
    const char* kind = nullptr;
    std::string message;
  };

  IterationCount next(Runner& runner);
  IterationCount promise(IterationCount begun);
  IterationCount choose_batch();
  std::unique_ptr<Phase> hear();
  Sample sample() const;

  void call_function();
  void run_thread(int thread);
  template <class Call>
  void guard(Call call);
  void finish(const Runner& runner, const State& state);
  void fail(const char* kind, const std::string& message);
  void give_up_if_failed();
  void line_up();

  int threads() const { return static_cast<int>(readings_.size()); }
  size_t metrics() const { return DEADHEAT_METRICS_ + (measures_manual_time_ ? 1u : 0u); }

  Link& link_;
  const BenchmarkInstance& instance_;
  Restart restart_;
  const bool measures_manual_time_;
  std::unique_ptr<Phase> phase_;
  bool is_prepared_ = false;
  bool ends_ = false;
  // This call of the function: whether its first batch is chosen, because the function has read `max_iterations`,
  // whether it has run iterations, and whether another call follows.
  bool is_promised_ = false;
  bool is_used_ = false;
  bool restarts_ = false;

  // The batch that all threads run.
  IterationCount batch_ = 0;
  std::vector<deadheat_reading_> readings_;
  double manual_ns_ = 0;
  bool reports_time_ = false;
  IterationCount executed_ = 0;

  std::mutex mutex_;
  std::condition_variable all_arrived_;
  std::condition_variable chosen_;
  int arrived_ = 0;
  uint64_t round_ = 0;
  unsigned lined_up_ = 0;
  Problem problem_;
};

// ---- One thread ---------------------------------------------------------------------------------------------------

IterationCount Runner::next(State& state) {
  if (is_running_) deadheat_stop_(&gauge_, &reading_);
  is_running_ = false;
  begun_ = state.iterations();
  executed_ = begun_ - before_;
  if (state.skipped()) return 0;
  if (has_left_loop_) race_.fail("refused", "runs two loops over its State, of which only the first can be timed");

  const IterationCount iterations = race_.next(*this);
  has_left_loop_ = iterations == 0;
  if (has_left_loop_) return 0;
  before_ = begun_;
  begun_ += iterations;
  manual_ns_ = 0;
  reading_ = deadheat_reading_();
  gauge_.cpu_clock =
      race_.instance_.settings().process_cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID;
  gauge_.counted = race_.link_.worker.race.counted;
  is_running_ = true;
  deadheat_start_(&gauge_);
  return iterations;
}

// After the loop, nothing more is promised.
IterationCount Runner::promise() { return has_left_loop_ ? begun_ : race_.promise(begun_); }

void Runner::pause() {
  if (is_running_) deadheat_stop_(&gauge_, &reading_);
  is_running_ = false;
}

void Runner::resume() {
  // Before the loop there is nothing to resume.
  if (reading_.stop == 0 || is_running_) return;
  is_running_ = true;
  deadheat_start_(&gauge_);
}

void Runner::skip(Skipped how, const std::string& message) {
  race_.fail(how == SkippedWithError ? kReportsError : "skipped", message);
}

// ---- All threads --------------------------------------------------------------------------------------------------

Race::Race(Link& link, const BenchmarkInstance& instance, Restart restart, bool measures_manual_time)
    : link_(link),
      instance_(instance),
      restart_(restart),
      measures_manual_time_(measures_manual_time),
      readings_(static_cast<size_t>(instance.threads())) {}

void Race::run() {
  do {
    restarts_ = is_used_ = is_promised_ = false;
    call_function();
    give_up_if_failed();
  } while (restarts_);
}

void Race::call_function() {
  arrived_ = 0;
  guard([this] {
    instance_.setup();
    thread_runner(instance_)->RunThreads([this](int thread) {
      guard([=] { run_thread(thread); });
      // The other threads wait for the choice of thread 0, which has none after a failure.
      if (thread != 0) return;
      std::lock_guard<std::mutex> lock(mutex_);
      give_up_if_failed();
    });
    instance_.teardown();
  });
}

void Race::run_thread(int thread) {
  Runner runner(*this, thread);
  const IterationCount fixed = instance_.settings().iterations;
  finish(runner, instance_.run(fixed > 0 ? fixed : MaxIterations::kUnknown, thread, runner));
}

// Exceptions must not leave the function, or a thread of it.
template <class Call>
void Race::guard(Call call) {
#ifdef __cpp_exceptions
  try {
    call();
  } catch (const std::exception& thrown) {
    fail("panicked", thrown.what());
  } catch (...) {
    fail("panicked", "threw something that is not a std::exception");
  }
#else
  call();
#endif
}

// Called when the function has returned on one thread.
void Race::finish(const Runner& runner, const State& state) {
  if (!runner.has_left_loop())
    fail("refused", is_used_ ? "returns before its loop has ended" : "returns without running its loop");
  if (runner.thread() != 0 || !restarts_ || state.iterations() == 0) return;
  const double iterations = static_cast<double>(state.iterations());
  phase_->returned({static_cast<double>(state.bytes_processed()) / iterations,
                    static_cast<double>(state.items_processed()) / iterations});
}

// The first problem counts: the others follow from it.
void Race::fail(const char* kind, const std::string& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  // After the goodbye there is nothing left to report.
  if (ends_) return;
  if (problem_.kind == nullptr) problem_ = {kind, message};
  all_arrived_.notify_one();
}

void Race::give_up_if_failed() {
  if (problem_.kind == nullptr) return;
  if (problem_.kind == kReportsError) link_.give_up_with_error(problem_.message);
  link_.give_up(problem_.kind, problem_.message);
}

// Thread 0 chooses for all as soon as they have arrived.
IterationCount Race::next(Runner& runner) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t round = round_;
  if (runner.thread() == 0) executed_ = runner.executed();
  readings_[static_cast<size_t>(runner.thread())] = runner.reading();
  manual_ns_ += runner.manual_ns() / threads();
  reports_time_ |= runner.has_set_time();
  if (++arrived_ == threads()) all_arrived_.notify_one();
  if (runner.thread() == 0) {
    all_arrived_.wait(lock, [this] { return arrived_ == threads() || problem_.kind != nullptr; });
    give_up_if_failed();
    if (is_used_ || !is_promised_) batch_ = choose_batch();
    is_used_ |= batch_ > 0;
    arrived_ = 0;
    lined_up_ = 0;
    manual_ns_ = 0;
    ++round_;
    chosen_.notify_all();
  } else {
    chosen_.wait(lock, [&] { return round_ != round; });
  }
  const IterationCount batch = batch_;
  lock.unlock();
  if (batch > 0) line_up();
  return batch;
}

// Lets all threads start at the same time, even if there are fewer cores than threads.
void Race::line_up() {
  if (threads() == 1) return;
  unsigned spins = 0;
  __atomic_add_fetch(&lined_up_, 1u, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&lined_up_, __ATOMIC_SEQ_CST) < static_cast<unsigned>(threads()))
    if (++spins > 1000) sched_yield();
}

// The number of iterations that this call of the function runs. The next sample may have more, so from now on every
// sample is a call of the function. `begun` is 0 before the loop.
IterationCount Race::promise(IterationCount begun) {
  std::lock_guard<std::mutex> lock(mutex_);
  restart_ = Restart::kEachSample;
  if (begun > 0) return begun;
  give_up_if_failed();
  if (!is_promised_) batch_ = choose_batch();
  is_promised_ = true;
  // 0 iterations are the end of the race, in a function that may expect to run its loop.
  return std::max<IterationCount>(batch_, 1);
}

IterationCount Race::choose_batch() {
  if (ends_) return 0;
  // A process that the function forked must not speak for this one.
  if (getpid() != deadheat_pid_) _exit(1);
  if (phase_ && is_used_ && executed_ > 0) phase_->took(sample());
  for (;;) {
    if (!phase_) phase_ = hear();
    if (!phase_) {
      ends_ = true;
      return 0;
    }
    const Step step = phase_->next(is_used_);
    switch (step.kind) {
      case Step::kSample:
        deadheat_note_(&link_.worker.race, 0);
        return step.iterations;
      case Step::kRestart: restarts_ = true; return 0;
      case Step::kDone:
        deadheat_note_(&link_.worker.race, -1);
        phase_->reply();
        phase_.reset();
    }
  }
}

// What the last batch took.
Sample Race::sample() const {
  Sample sample;
  sample.iterations = batch_;
  sample.executed = executed_;
  deadheat_add_up_(readings_.data(), static_cast<unsigned>(threads()), link_.worker.race.cpu_overhead_ns,
                   sample.values);
  // Each thread has read the CPU time of the whole process.
  if (instance_.settings().process_cpu_time) sample.values[1] /= threads();
  sample.values[DEADHEAT_METRICS_] = manual_ns_;
  sample.elapsed_ns = static_cast<double>(readings_[0].stop - readings_[0].start);
  const double factor = static_cast<double>(batch_) / static_cast<double>(executed_);
  for (double& value : sample.values) value *= factor;
  sample.reports_time = reports_time_;
  sample.wall_ns = sample.values[0];
  sample.timed_ns = instance_.settings().manual_time ? manual_ns_ * factor : sample.wall_ns;
  return sample;
}

// The phase that the next request asks for; null at the end.
std::unique_ptr<Phase> Race::hear() {
  if (!is_prepared_) {
    const bool renews = restart_ != Restart::kNever;
    link_.say("{\"prepared\":{\"renews_input\":").say(renews ? "true" : "false").say("}}").send();
    is_prepared_ = true;
  }
  link_.hear();
  if (link_.is("bye")) return nullptr;
  if (!deadheat_turns_make_sense_(&link_.worker)) link_.give_up("unknown");
  if (link_.is("calibrate"))
    return std::make_unique<Calibration>(link_, restart_, instance_.settings().iterations);
  if (link_.is("warm_up")) return std::make_unique<WarmUp>(link_, restart_);
  if (link_.is("block")) return std::make_unique<Block>(link_, restart_, metrics());
  if (link_.is("smoke")) return std::make_unique<Smoke>(link_, restart_);
  link_.give_up("out_of_turn");
}

}  // namespace
}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_RACE_H_
