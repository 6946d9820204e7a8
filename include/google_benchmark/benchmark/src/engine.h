// The part of deadheat.h that measures samples and talks to deadheat. Only worker.cc includes this file, because the
// functions are static there.
#ifndef DEADHEAT_BENCHMARK_ENGINE_H_
#define DEADHEAT_BENCHMARK_ENGINE_H_

#define DEADHEAT_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../../../deadheat.h"
#pragma GCC diagnostic pop

#include "benchmark/state.h"

namespace benchmark {
namespace internal {
namespace {

// Reported by benchmarks with UseManualTime, after the metrics of all workers.
const char kManualTime[] = "manual_ns";
const size_t kMostMetrics = DEADHEAT_METRICS_ + 1;

// What one batch of iterations took.
struct Sample {
  // Of `iterations` iterations, in the order of `hello`.
  double values[kMostMetrics];
  IterationCount iterations;
  // KeepRunningBatch may run more than asked.
  IterationCount executed;
  // The time that counts: that of the wall, or that which the function reports.
  double timed_ns;
  double wall_ns;
  // With the parts in which the timing paused.
  double elapsed_ns;
  // Whether the function has called SetIterationTime.
  bool reports_time;
};

// When the function starts again.
enum class Restart { kNever, kEachBlock, kEachSample };

// The connection to deadheat, on the process's only worker.
class Link {
 public:
  explicit Link(deadheat_worker_& worker) : worker(worker) {}

  // Ends the process if deadheat is gone.
  void hear() {
    if (!deadheat_hear_(&worker)) leave(worker.exit_code);
  }
  bool is(const char* kind) const { return strcmp(worker.request.kind, kind) == 0; }
  const deadheat_request_& request() const { return worker.request; }

  Link& say(const char* words) {
    deadheat_say_(&worker.said, words);
    return *this;
  }
  Link& count(uint64_t number) {
    deadheat_count_(&worker.said, number);
    return *this;
  }
  Link& number(double number) {
    deadheat_number_(&worker.said, number);
    return *this;
  }
  Link& quote(const std::string& text) {
    deadheat_quote_(&worker.said, text.c_str());
    return *this;
  }
  void send() {
    if (!deadheat_send_(&worker)) leave(0);
  }

  [[noreturn]] void give_up(const char* problem) {
    deadheat_give_up_(&worker, problem);
    leave(0);
  }
  [[noreturn]] void give_up(const char* problem, const std::string& message) {
    deadheat_give_up_with_(&worker, problem, message.c_str());
    leave(0);
  }

  // For SkipWithError. deadheat may leave the benchmark out for the reason `skips` if every build reports an error.
  [[noreturn]] void give_up_with_error(const std::string& message) {
    worker.said.length = 0;
    say("{\"failed\":{\"contender\":0,\"problem\":{\"refused\":").quote("reports an error: " + message);
    say("},\"skips\":").quote(message).say("}}").send();
    leave(0);
  }

  deadheat_worker_& worker;

 private:
  // Other threads may still be in the user's function, so nothing is destroyed.
  [[noreturn]] static void leave(int status) {
    deadheat_leaves_();
    _exit(status);
  }
};

}  // namespace
}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_ENGINE_H_
