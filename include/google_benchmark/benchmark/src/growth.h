// Whether the cost of an iteration depends on how many came before it, as in a loop that fills a container.
#ifndef DEADHEAT_BENCHMARK_GROWTH_H_
#define DEADHEAT_BENCHMARK_GROWTH_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace benchmark {
namespace internal {
namespace {

// Samples in the order in which they were taken, and whether they get steadily slower or faster.
class Trend {
 public:
  explicit Trend(size_t count) : count_(count) { ns_.reserve(count); }

  void add(double ns) { ns_.push_back(ns); }
  bool is_complete() const { return ns_.size() == count_; }

  // +1 for slower, -1 for faster, 0 for neither: the medians of the four quarters are in order, differ by 3% or more,
  // and so are three pairs of samples in four. A warm-up is over within the first quarter and is not a trend.
  int direction() const {
    const double change = last() / first() - 1;
    if (!(std::abs(change) >= kLeastChange) || std::abs(tau()) < kLeastTau) return 0;
    for (int i = 0; i + 1 < 4; ++i)
      if ((quarter(i + 1) > quarter(i)) != (change > 0)) return 0;
    return change > 0 ? 1 : -1;
  }

  double first() const { return quarter(0); }
  double last() const { return quarter(3); }

 private:
  static constexpr double kLeastChange = 0.03;
  static constexpr double kLeastTau = 0.5;

  double quarter(int i) const {
    const auto at = [&](int place) { return ns_.begin() + static_cast<std::ptrdiff_t>(ns_.size()) * place / 4; };
    std::vector<double> sorted(at(i), at(i + 1));
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

  // Kendall's rank correlation of the samples with their order.
  double tau() const {
    double concordant = 0;
    for (size_t i = 0; i < ns_.size(); ++i)
      for (size_t k = i + 1; k < ns_.size(); ++k) concordant += ns_[k] > ns_[i] ? 1 : ns_[k] < ns_[i] ? -1 : 0;
    return concordant / (static_cast<double>(ns_.size()) * static_cast<double>(ns_.size() - 1) / 2);
  }

  size_t count_;
  std::vector<double> ns_;
};

// A trend is that of the function, and not that of the machine, if a restart of the function undoes it.
inline bool is_undone_by_restart(const Trend& before, const Trend& after) {
  const int direction = before.direction();
  return direction != 0 && after.direction() == direction &&
         std::abs(after.first() - before.first()) < std::abs(after.first() - before.last());
}

}  // namespace
}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_GROWTH_H_
