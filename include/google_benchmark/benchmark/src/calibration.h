// The calibration run: how many iterations make a sample, and whether the function has to start again for every block.
#ifndef DEADHEAT_BENCHMARK_CALIBRATION_H_
#define DEADHEAT_BENCHMARK_CALIBRATION_H_

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "growth.h"
#include "phases.h"
#include "worker.h"

namespace benchmark {
namespace internal {
namespace {

// It goes through these stages: samples of more and more iterations; samples that show whether the cost of an iteration
// changes while the loop runs; if so, the same after a restart, and samples of a function that starts again each time;
// and the end of the function, where it says how much it has processed.
class Calibration : public Phase {
 public:
  // `fixed` is the number of iterations that the benchmark asks for, 0 if none. `restart` may become `kEachBlock`,
  // or, if the function reads `max_iterations`, `kEachSample`.
  Calibration(Link& link, Restart& restart, IterationCount fixed)
      : link_(link), restart_(restart), fixed_(fixed), least_ns_(link.request().least_ns) {
    begin_trial();
    if (fixed > 0) unit_ = fixed;
  }

  Step next(bool used) override {
    // The function reads `max_iterations` for the first time within its loop.
    if (restart_ == Restart::kEachSample && stage_ != Stage::kTrial) stage_ = Stage::kEnd;
    if (used && starts_again()) return Step::restart();
    switch (stage_) {
      case Stage::kTrial: return Step::sample(static_cast<IterationCount>(trial_.iterations) * unit_);
      case Stage::kTrend: return Step::sample(sample_iterations());
      case Stage::kLead: return Step::sample(lead_);
      case Stage::kTrendAgain: return Step::sample(sample_iterations());
      case Stage::kEnd: return Step::done();
    }
    return Step::done();
  }

  void took(const Sample& sample) override {
    switch (stage_) {
      case Stage::kTrial: return took_trial(sample);
      case Stage::kTrend:
        trend_.add(sample.timed_ns);
        if (trend_.is_complete()) stage_ = trend_.direction() != 0 ? Stage::kLead : Stage::kEnd;
        return;
      case Stage::kLead:
        stage_ = Stage::kTrendAgain;
        return;
      case Stage::kTrendAgain:
        trend_again_.add(sample.timed_ns);
        if (trend_again_.is_complete()) decide();
        return;
      case Stage::kEnd: return;
    }
  }

  void returned(const Returned& returned) override {
    has_returned_ = true;
    returned_ = returned;
  }

  void reply() override {
    link_.say("{\"calibrated\":{\"iterations\":").count(static_cast<uint64_t>(sample_iterations()));
    link_.say(",\"call_ns\":[").number(call_ns_).say("],\"most_iterations\":");
    if (fixed_ > 0)
      link_.count(static_cast<uint64_t>(fixed_));
    else
      link_.say("null");
    if (is_warm_at_once()) link_.say(",\"warm_at_once\":true");
    // The function of the other build may not read `max_iterations`. It then starts again for every block, at least.
    if (restart_ != Restart::kNever && fixed_ == 0) link_.say(",\"input_per_call\":true");
    if (returned_.bytes > 0)
      link_.say(",\"throughput\":{\"bytes\":").count(static_cast<uint64_t>(std::llround(returned_.bytes))).say("}");
    else if (returned_.items > 0)
      link_.say(",\"throughput\":{\"items\":").count(static_cast<uint64_t>(std::llround(returned_.items))).say("}");
    link_.say(",\"notes\":[");
    const char* separator = "";
    for (const std::string& note : {restart_note(), options_note()}) {
      if (note.empty()) continue;
      link_.say(separator).quote(note);
      separator = ",";
    }
    link_.say("]}}").send();
  }

 private:
  enum class Stage { kTrial, kTrend, kLead, kTrendAgain, kEnd };

  static constexpr double kLongSampleNs = 5e6;
  static constexpr double kTrendNs = 8e7;
  static constexpr int kMostZeros = 20;
  static constexpr size_t kTrendSamples = 32;
  static constexpr size_t kLeastTrendSamples = 8;

  void begin_trial() {
    trial_ = deadheat_begin_trial_(least_ns_, fixed_ > 0 ? 1 : static_cast<uint64_t>(DEADHEAT_MOST_CALLS_));
    trial_.compares_first = 1;
    stage_ = Stage::kTrial;
  }

  IterationCount sample_iterations() const { return iterations_ * unit_; }

  // Restarts that come in front of a sample, and the one at the end.
  bool starts_again() const {
    switch (stage_) {
      case Stage::kTrial: return restart_ != Restart::kNever;
      case Stage::kLead: return true;
      // Suites check their results after the loop.
      case Stage::kEnd: return !has_returned_;
      default: return false;
    }
  }

  void took_trial(const Sample& sample) {
    if (sample.timed_ns == 0 && sample.wall_ns > 0) {
      if (!sample.reports_time) link_.give_up("refused", "has UseManualTime and never calls SetIterationTime");
      if (++zeros_ > kMostZeros) link_.give_up("refused", "reports only times of 0 by SetIterationTime");
    }
    position_ += sample.executed;
    // The first sample asks for one iteration, and KeepRunningBatch runs its whole batch.
    if (trial_.samples == 0 && fixed_ == 0) unit_ = std::max<IterationCount>(sample.executed, 1);
    const double timed_ns =
        sample.timed_ns * static_cast<double>(sample.executed) / static_cast<double>(sample.iterations);
    // A sample that spends its time in pauses does not get longer than this.
    if (sample.elapsed_ns > kLongSampleNs) trial_.most = std::min(trial_.most, trial_.iterations);
    deadheat_took_(&trial_, timed_ns);
    if (trial_.tries > 0) {
      const double each_ns = sample.elapsed_ns / static_cast<double>(sample.executed);
      call_ns_ = trial_.tries == 1 ? each_ns : std::min(call_ns_, each_ns);
    }
    if (trial_.iterations == 0) end_trial();
  }

  void end_trial() {
    iterations_ = static_cast<IterationCount>(deadheat_iterations_(trial_.call_ns, least_ns_, trial_.most));
    const double sample_ns = call_ns_ * static_cast<double>(sample_iterations());
    const double fitting = kTrendNs / std::max(sample_ns, 1.0);
    const size_t samples = fitting >= kTrendSamples ? kTrendSamples : static_cast<size_t>(fitting);
    if (restart_ != Restart::kNever || samples < kLeastTrendSamples) {
      stage_ = Stage::kEnd;
      return;
    }
    trend_ = Trend(samples);
    trend_again_ = Trend(samples);
    lead_ = position_;
    stage_ = Stage::kTrend;
  }

  void decide() {
    stage_ = Stage::kEnd;
    if (!is_undone_by_restart(trend_, trend_again_)) return;
    restart_ = Restart::kEachBlock;
    has_grown_ = true;
    begin_trial();
  }

  bool is_warm_at_once() const {
    const bool is_one_long_call = iterations_ == 1 && trial_.call_ns >= deadheat_slow_ns_;
    return restart_ == Restart::kNever && is_one_long_call && trial_.was_warm;
  }

  std::string restart_note() const {
    if (restart_ == Restart::kEachSample)
      return std::string("Each sample is a call of the function, because the ") +
             (fixed_ > 0 ? "benchmark fixes its number of iterations." : "function reads max_iterations.");
    if (restart_ == Restart::kNever) return "";
    if (!has_grown_) return "The function starts again for every block, because of --fresh.";
    char change[64];
    snprintf(change, sizeof change, "%+.0f%%", 100 * (trend_.last() / trend_.first() - 1));
    return std::string("The time of an iteration changes while the loop runs (") + change +
           " during calibration), so the function starts again for every block.";
  }

  static std::string options_note() {
    const std::string& ignored = worker_arguments().ignored;
    if (ignored.empty()) return "";
    return "A race with deadheat's library ignores these options: " + ignored +
           ". deadheat chooses the length and the number of samples.";
  }

  Link& link_;
  Restart& restart_;
  IterationCount fixed_;
  double least_ns_;
  Stage stage_ = Stage::kTrial;
  deadheat_trial_ trial_;
  // Iterations that the function cannot run in part.
  IterationCount unit_ = 1;
  // Units of a sample.
  IterationCount iterations_ = 1;
  // With pauses: deadheat plans by it how long a race takes.
  double call_ns_ = 0;
  // Iterations up to the first trend, and up to the second.
  IterationCount position_ = 0;
  IterationCount lead_ = 0;
  Trend trend_{0};
  Trend trend_again_{0};
  bool has_grown_ = false;
  bool has_returned_ = false;
  int zeros_ = 0;
  Returned returned_ = {0, 0};
};

}  // namespace
}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_CALIBRATION_H_
