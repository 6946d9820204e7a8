#include "team.h"

#include <memory>
#include <thread>
#include <vector>

#include "clocks.h"
#include "counters.h"

namespace benchmark {
namespace internal {

void Barrier::arrive_and_wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  const unsigned round = round_;
  ++waiting_;
  open_if_complete();
  opened_.wait(lock, [&] { return round_ != round; });
}

void Barrier::leave() {
  std::lock_guard<std::mutex> lock(mutex_);
  --threads_;
  open_if_complete();
}

void Barrier::open_if_complete() {
  if (waiting_ < threads_ || waiting_ == 0) return;
  waiting_ = 0;
  ++round_;
  opened_.notify_all();
}

namespace {

struct Team {
  explicit Team(int threads) : barrier(threads) {}

  Barrier barrier;
  std::mutex mutex;
  Totals totals;
};

// The real and CPU time of one thread, in the intervals in which it runs.
class Stopwatch {
 public:
  explicit Stopwatch(bool of_process) : of_process_(of_process) {}

  void start() {
    running_ = true;
    real_start_ = real_time();
    cpu_start_ = cpu_now();
  }
  void stop() {
    if (!running_) return;
    running_ = false;
    real_ += real_time() - real_start_;
    cpu_ += cpu_now() - cpu_start_;
  }
  double real() const { return real_; }
  double cpu() const { return cpu_; }

 private:
  double cpu_now() const { return of_process_ ? process_cpu_time() : thread_cpu_time(); }

  const bool of_process_;
  bool running_ = false;
  double real_start_ = 0, cpu_start_ = 0;
  double real_ = 0, cpu_ = 0;
};

// Runs one batch of a fixed size on one thread.
class SingleBatch : public Batches {
 public:
  SingleBatch(Team& team, IterationCount iterations, bool process_cpu, ProfilerManager* profiler)
      : team_(team), iterations_(iterations), profiler_(profiler), watch_(process_cpu) {}

  IterationCount next(State& state) override {
    if (!in_loop_) {
      in_loop_ = true;
      if (profiler_ != nullptr) profiler_->AfterSetupStart();
      team_.barrier.arrive_and_wait();
      if (!state.skipped()) {
        watch_.start();
        return iterations_;
      }
    }
    watch_.stop();
    in_loop_ = false;
    team_.barrier.arrive_and_wait();
    if (profiler_ != nullptr) profiler_->BeforeTeardownStop();
    return 0;
  }

  IterationCount promise() override { return iterations_; }
  void pause() override { watch_.stop(); }
  void resume() override { watch_.start(); }
  void set_time(double seconds) override { manual_time_ += seconds; }

  void skip(Skipped how, const std::string& message) override {
    watch_.stop();
    std::lock_guard<std::mutex> lock(team_.mutex);
    if (team_.totals.skipped != NotSkipped) return;
    team_.totals.skipped = how;
    team_.totals.skip_message = message;
  }

  void label(const std::string& text) override {
    std::lock_guard<std::mutex> lock(team_.mutex);
    team_.totals.label = text;
  }

  void add_to_totals(const State& state) {
    watch_.stop();
    std::lock_guard<std::mutex> lock(team_.mutex);
    Totals& totals = team_.totals;
    totals.iterations += state.iterations();
    totals.real_time += watch_.real();
    totals.cpu_time += watch_.cpu();
    totals.manual_time += manual_time_;
    totals.complexity_n += state.complexity_length_n();
    add(totals.counters, state.counters);
  }

 private:
  Team& team_;
  const IterationCount iterations_;
  ProfilerManager* const profiler_;
  Stopwatch watch_;
  double manual_time_ = 0;
  bool in_loop_ = false;
};

void run_thread(const BenchmarkInstance& instance, IterationCount iterations, int thread, Team& team,
                ProfilerManager* profiler) {
  SingleBatch batch(team, iterations, instance.settings().process_cpu_time, profiler);
  State state = instance.run(iterations, thread, batch);
  if (!state.skipped() && state.iterations() < iterations) {
    state.SkipWithError(
        "The benchmark didn't run, nor was it explicitly skipped. Please call 'SkipWithXXX` in your benchmark as "
        "appropriate.");
  }
  batch.add_to_totals(state);
  team.barrier.leave();
}

// Thread 0 is the calling one.
class Threads : public ThreadRunnerBase {
 public:
  explicit Threads(int count) : count_(count) {}

  void RunThreads(const std::function<void(int)>& run) override {
    std::vector<std::thread> others;
    for (int i = 1; i < count_; ++i) others.emplace_back(run, i);
    run(0);
    for (std::thread& other : others) other.join();
  }

 private:
  const int count_;
};

}  // namespace

std::unique_ptr<ThreadRunnerBase> thread_runner(const BenchmarkInstance& instance) {
  const threadrunner_factory& factory = instance.settings().thread_runner;
  if (factory) return factory(instance.threads());
  return std::unique_ptr<ThreadRunnerBase>(new Threads(instance.threads()));
}

Totals run_team(const BenchmarkInstance& instance, IterationCount iterations) {
  Team team(instance.threads());
  thread_runner(instance)->RunThreads([&](int thread) { run_thread(instance, iterations, thread, team, nullptr); });
  return team.totals;
}

Totals run_alone(const BenchmarkInstance& instance, IterationCount iterations, ProfilerManager* profiler) {
  Team team(1);
  run_thread(instance, iterations, 0, team, profiler);
  return team.totals;
}

}  // namespace internal
}  // namespace benchmark
