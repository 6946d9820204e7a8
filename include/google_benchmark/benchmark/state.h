// What a benchmark function gets: its arguments, its loop, its clock and its counters.
#ifndef BENCHMARK_STATE_H_
#define BENCHMARK_STATE_H_

#include <cassert>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "benchmark/counter.h"
#include "benchmark/macros.h"
#include "benchmark/statistics.h"
#include "benchmark/types.h"

namespace benchmark {

namespace internal {

// Decides how many iterations a benchmark function runs, and takes their time. Every thread has its own.
class BENCHMARK_EXPORT Batches {
 public:
  virtual ~Batches() {}

  // Called in front of the first iteration and whenever the iterations of a batch are used up. Returns the size of
  // the next batch and starts its clock last of all; 0 ends the loop.
  virtual IterationCount next(State& state) = 0;

  virtual void pause() = 0;
  virtual void resume() = 0;
  virtual void set_time(double seconds) = 0;
  virtual void skip(Skipped how, const std::string& message) = 0;
  virtual void label(const std::string& text) = 0;

  // Called if the benchmark function reads `max_iterations` and the number is not known yet. Returns the number of
  // iterations that the loop runs in this call of the function.
  virtual IterationCount promise() = 0;
};

// The type of `state.max_iterations`. Some benchmarks allocate memory for `max_iterations` elements and write one in
// each iteration. If a function reads the number, its loop must therefore run no more iterations than that. Otherwise,
// deadheat chooses the iterations of a sample later, and one call of the function may run several samples.
class BENCHMARK_EXPORT MaxIterations {
 public:
  // `known` is kUnknown in a race.
  MaxIterations(IterationCount known, Batches* batches) : known_(known), batches_(batches) {}
  // Several threads that the function has started may read it at the same time.
  operator IterationCount() const {
    const IterationCount known = __atomic_load_n(&known_, __ATOMIC_RELAXED);
    return known == kUnknown ? Promised() : known;
  }

  static constexpr IterationCount kUnknown = -1;

 private:
  IterationCount Promised() const;

  mutable IterationCount known_;
  Batches* batches_;
};

// Releases up to 1.5 have `state.threads` and `state.thread_index` as fields, later ones as functions.
class FieldOrFunction {
 public:
  explicit FieldOrFunction(int value) : value_(value) {}
  operator int() const { return value_; }
  int operator()() const { return value_; }

 private:
  int value_;
};

}  // namespace internal

class BENCHMARK_EXPORT BENCHMARK_INTERNAL_CACHELINE_ALIGNED State {
 public:
  struct StateIterator;

  State(const std::string& name, IterationCount iterations, const std::vector<int64_t>& ranges, int thread,
        int n_threads, internal::Batches* batches);

  inline BENCHMARK_ALWAYS_INLINE StateIterator begin();
  inline BENCHMARK_ALWAYS_INLINE StateIterator end();

  inline BENCHMARK_ALWAYS_INLINE bool KeepRunning() { return Consume(1, false); }
  inline BENCHMARK_ALWAYS_INLINE bool KeepRunningBatch(IterationCount n) { return Consume(n, true); }

  void PauseTiming();
  void ResumeTiming();
  void SetIterationTime(double seconds);

  void SkipWithMessage(const std::string& message);
  void SkipWithError(const std::string& message);
  bool skipped() const { return skipped_ != internal::NotSkipped; }
  bool error_occurred() const { return skipped_ == internal::SkippedWithError; }

  void SetLabel(const std::string& label);

  void SetBytesProcessed(int64_t bytes) {
    counters["bytes_per_second"] = Counter(static_cast<double>(bytes), Counter::kIsRate, Counter::kIs1024);
  }
  int64_t bytes_processed() const { return CounterOrZero("bytes_per_second"); }

  void SetItemsProcessed(int64_t items) {
    counters["items_per_second"] = Counter(static_cast<double>(items), Counter::kIsRate);
  }
  int64_t items_processed() const { return CounterOrZero("items_per_second"); }

  void SetComplexityN(ComplexityN n) { complexity_n_ = n; }
  ComplexityN complexity_length_n() const { return complexity_n_; }

  int64_t range(std::size_t position = 0) const {
    assert(range_.size() > position);
    return range_[position];
  }
  std::size_t range_size() const { return range_.size(); }
  int64_t range_x() const { return range(0); }
  int64_t range_y() const { return range(1); }

  IterationCount iterations() const { return begun_ - total_iterations_ + batch_leftover_; }
  std::string name() const { return name_; }

 private:
  inline BENCHMARK_ALWAYS_INLINE bool Consume(IterationCount n, bool is_batch);
  bool ConsumeFromNextBatch(IterationCount n, bool is_batch);
  IterationCount NextBatch();
  void Skip(internal::Skipped how, const std::string& message);
  int64_t CounterOrZero(const char* name) const;

  // The fields that a loop touches come first, on one cache line.
  IterationCount total_iterations_;  // left of the batch
  IterationCount batch_leftover_;    // by which KeepRunningBatch went beyond the batch
  IterationCount begun_;          // the sum of the batches so far
  internal::Batches* batches_;
  internal::Skipped skipped_;
  bool finished_;
  ComplexityN complexity_n_;
  std::vector<int64_t> range_;
  std::string name_;

 public:
  const internal::MaxIterations max_iterations;
  UserCounters counters;
  const internal::FieldOrFunction thread_index;
  const internal::FieldOrFunction threads;
};

inline bool State::Consume(IterationCount n, bool is_batch) {
  if (BENCHMARK_BUILTIN_EXPECT(total_iterations_ >= n, true)) {
    total_iterations_ -= n;
    return true;
  }
  return ConsumeFromNextBatch(n, is_batch);
}

struct State::StateIterator {
  struct BENCHMARK_UNUSED Value {};
  typedef std::forward_iterator_tag iterator_category;
  typedef Value value_type;
  typedef Value reference;
  typedef Value pointer;
  typedef std::ptrdiff_t difference_type;

  BENCHMARK_ALWAYS_INLINE Value operator*() const { return Value(); }

  // The end of a batch asks for the next one, so the function is entered once for all batches of a process. Where the
  // counter is decremented decides whether the loop tests the flags of the decrement, as Google Benchmark's does, or
  // needs an instruction more; GCC 12 and Clang 14 want it in different places.
#if defined(__clang__)
  BENCHMARK_ALWAYS_INLINE StateIterator& operator++() { return *this; }

  BENCHMARK_ALWAYS_INLINE bool operator!=(StateIterator const&) {
    if (BENCHMARK_BUILTIN_EXPECT(--left_ != 0, true)) return true;
    left_ = state_->NextBatch();
    return left_ != 0;
  }
#else
  BENCHMARK_ALWAYS_INLINE StateIterator& operator++() {
    if (BENCHMARK_BUILTIN_EXPECT(--left_ == 0, false)) left_ = state_->NextBatch();
    return *this;
  }

  BENCHMARK_ALWAYS_INLINE bool operator!=(StateIterator const&) const { return left_ != 0; }
#endif

 private:
  friend class State;
  BENCHMARK_ALWAYS_INLINE StateIterator(IterationCount left, State* state) : left_(left), state_(state) {}

  IterationCount left_;
  State* state_;
};

#if defined(__clang__)
inline State::StateIterator State::begin() { return StateIterator(1, this); }
#else
inline State::StateIterator State::begin() { return StateIterator(NextBatch(), this); }
#endif
inline State::StateIterator State::end() { return StateIterator(0, this); }

// Stops the clock for the rest of a scope.
class ScopedPauseTiming {
 public:
  explicit ScopedPauseTiming(State& state) : state_(state) { state_.PauseTiming(); }
  ~ScopedPauseTiming() { state_.ResumeTiming(); }
  BENCHMARK_DISALLOW_COPY_AND_ASSIGN(ScopedPauseTiming);

 private:
  State& state_;
};

}  // namespace benchmark

#endif  // BENCHMARK_STATE_H_
