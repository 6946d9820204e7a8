// The parts of a race. Each answers one request of deadheat by samples of the user's loop, which calls us and not we it.
#ifndef DEADHEAT_BENCHMARK_PHASES_H_
#define DEADHEAT_BENCHMARK_PHASES_H_

#include <vector>

#include "engine.h"

namespace benchmark {
namespace internal {
namespace {

struct Step {
  enum Kind { kSample, kRestart, kDone } kind;
  IterationCount iterations;

  static Step sample(IterationCount iterations) { return {kSample, iterations}; }
  static Step restart() { return {kRestart, 0}; }
  static Step done() { return {kDone, 0}; }
};

// What is known of a call of the function when it has returned.
struct Returned {
  // Processed by one iteration; 0 if unknown.
  double bytes;
  double items;
};

// A phase that takes a reference to a `Restart` sees it change if the function reads `max_iterations` within its loop.
class Phase {
 public:
  virtual ~Phase() {}
  // Chooses what comes next. `used` is true if the function has run iterations since it was called.
  virtual Step next(bool used) = 0;
  virtual void took(const Sample& sample) = 0;
  virtual void returned(const Returned&) {}
  // Called once, when `next` says that it is done.
  virtual void reply() = 0;
};

// One iteration, to find out whether the function runs at all.
class Smoke : public Phase {
 public:
  Smoke(Link& link, const Restart& restart) : link_(link), restart_(restart) {}
  Step next(bool used) override {
    if (called_) return Step::done();
    return used && restart_ == Restart::kEachSample ? Step::restart() : Step::sample(1);
  }
  void took(const Sample&) override { called_ = true; }
  void reply() override { link_.say("{\"sound\":{}}").send(); }

 private:
  Link& link_;
  const Restart& restart_;
  bool called_ = false;
};

class WarmUp : public Phase {
 public:
  WarmUp(Link& link, const Restart& restart) : link_(link), restart_(restart) {}

  Step next(bool used) override {
    if (!goes_on_) return Step::done();
    if (used && restart_ == Restart::kEachSample) return Step::restart();
    return Step::sample(static_cast<IterationCount>(link_.request().iterations));
  }
  void took(const Sample& sample) override { goes_on_ = deadheat_goes_on_(&rounds_, sample.elapsed_ns); }
  void reply() override {
    link_.say("{\"warm\":{\"rounds\":").count(rounds_.count);
    // A function that starts again has used nothing of what the block will use.
    if (rounds_.count == 1 && restart_ == Restart::kNever) link_.say(",\"ready\":").count(link_.request().seed);
    link_.say("}}").send();
  }

 private:
  Link& link_;
  const Restart& restart_;
  deadheat_rounds_ rounds_ = {0, 0, 0};
  bool goes_on_ = true;
};

// The turns of a block, in which the other process takes turns too.
class Block : public Phase {
 public:
  Block(Link& link, const Restart& restart, size_t metrics) : link_(link), restart_(restart), metrics_(metrics) {
    // No allocation between the turns.
    values_.reserve(deadheat_recorded_(&link.worker) * metrics);
  }

  Step next(bool used) override {
    if (!begun_) {
      if (used && restart_ == Restart::kEachBlock) return Step::restart();
      begun_ = true;
      pass(deadheat_begin_turns_(&link_.worker));
    }
    while (turn_ < turns() && !deadheat_is_own_turn_(&link_.worker, turn_)) ++turn_;
    if (turn_ == turns()) {
      pass(deadheat_end_turns_(&link_.worker));
      return Step::done();
    }
    if (!has_baton_) pass(deadheat_begin_turn_(&link_.worker, turn_));
    has_baton_ = true;
    // With the baton, because the setup of the function would disturb a sample of the other process.
    if (used && restart_ == Restart::kEachSample) return Step::restart();
    const auto& request = link_.request();
    return Step::sample(
        static_cast<IterationCount>(is_recorded() ? request.iterations : request.unrecorded_iterations));
  }

  void took(const Sample& sample) override {
    if (is_recorded()) values_.insert(values_.end(), sample.values, sample.values + metrics_);
    pass(deadheat_end_turn_(&link_.worker, turn_++));
    has_baton_ = false;
  }

  void reply() override {
    if (!deadheat_send_block_(&link_.worker, values_.data(), values_.size())) link_.give_up("peer_gone");
  }

 private:
  size_t turns() const { return link_.request().turn_count; }
  bool is_recorded() const { return turn_ >= link_.request().unrecorded; }
  void pass(int succeeded) {
    if (!succeeded) link_.give_up("peer_gone");
  }

  Link& link_;
  const Restart& restart_;
  size_t metrics_;
  std::vector<double> values_;
  size_t turn_ = 0;
  bool begun_ = false;
  bool has_baton_ = false;
};

}  // namespace
}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_PHASES_H_
