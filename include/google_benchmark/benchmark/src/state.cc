#include "benchmark/state.h"

namespace benchmark {

IterationCount internal::MaxIterations::Promised() const {
  const IterationCount promised = batches_->promise();
  __atomic_store_n(&known_, promised, __ATOMIC_RELAXED);
  return promised;
}

State::State(const std::string& name, IterationCount iterations, const std::vector<int64_t>& ranges, int thread,
             int n_threads, internal::Batches* batches)
    : total_iterations_(0),
      batch_leftover_(0),
      begun_(0),
      batches_(batches),
      skipped_(internal::NotSkipped),
      finished_(false),
      complexity_n_(0),
      range_(ranges),
      name_(name),
      max_iterations(iterations, batches),
      thread_index(thread),
      threads(n_threads) {}

IterationCount State::NextBatch() {
  if (finished_) {  // A second range-based loop counts from zero.
    finished_ = false;
    begun_ = 0;
  }
  begun_ += batch_leftover_;
  batch_leftover_ = 0;
  total_iterations_ = 0;
  const IterationCount n = batches_->next(*this);
  if (n == 0) {
    finished_ = true;
    return 0;
  }
  total_iterations_ = n;
  begun_ += n;
  return n;
}

// A batch that is used up in part lets KeepRunningBatch run once more, beyond its end. A second loop of KeepRunning
// does not run, unlike a second range-based one.
bool State::ConsumeFromNextBatch(IterationCount n, bool is_batch) {
  if (total_iterations_ == 0 && (finished_ || NextBatch() == 0)) return false;
  if (total_iterations_ >= n) {
    total_iterations_ -= n;
    return true;
  }
  assert(is_batch);
  (void)is_batch;
  batch_leftover_ = n - total_iterations_;
  total_iterations_ = 0;
  return true;
}

void State::PauseTiming() { batches_->pause(); }
void State::ResumeTiming() { batches_->resume(); }
void State::SetIterationTime(double seconds) { batches_->set_time(seconds); }
void State::SetLabel(const std::string& label) { batches_->label(label); }

void State::SkipWithMessage(const std::string& message) { Skip(internal::SkippedWithMessage, message); }
void State::SkipWithError(const std::string& message) { Skip(internal::SkippedWithError, message); }

void State::Skip(internal::Skipped how, const std::string& message) {
  skipped_ = how;
  total_iterations_ = 0;
  batches_->skip(how, message);
}

int64_t State::CounterOrZero(const char* name) const {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : static_cast<int64_t>(found->second.value);
}

}  // namespace benchmark
