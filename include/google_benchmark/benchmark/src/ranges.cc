#include "ranges.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "benchmark/benchmark_api.h"

namespace benchmark {
namespace internal {
namespace {

std::vector<int64_t> powers_up_to(int64_t limit, int multiplier) {
  std::vector<int64_t> powers;
  for (int64_t power = 1; power <= limit; power *= multiplier) {
    powers.push_back(power);
    if (power > std::numeric_limits<int64_t>::max() / multiplier) break;
  }
  return powers;
}

}  // namespace

std::vector<int64_t> geometric_range(int64_t lo, int64_t hi, int multiplier) {
  std::vector<int64_t> inner;
  if (lo < 0) {
    // The negative of the lowest integer is not one.
    const int64_t limit = lo == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : -lo;
    for (int64_t power : powers_up_to(limit, multiplier)) inner.push_back(-power);
    std::reverse(inner.begin(), inner.end());
    inner.push_back(0);
  }
  for (int64_t power : powers_up_to(hi, multiplier)) inner.push_back(power);

  std::vector<int64_t> range{lo};
  std::copy_if(inner.begin(), inner.end(), std::back_inserter(range),
               [&](int64_t value) { return lo < value && value < hi; });
  if (lo < hi) range.push_back(hi);
  return range;
}

std::vector<int64_t> dense_range(int64_t start, int64_t limit, int step) {
  std::vector<int64_t> range;
  for (int64_t value = start; value <= limit; value += step) range.push_back(value);
  return range;
}

std::vector<std::vector<int64_t>> product(const std::vector<std::vector<int64_t>>& lists) {
  std::vector<std::vector<int64_t>> rows{{}};
  // The last list is the outermost loop, so the rows grow from its end.
  for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& row : rows) {
      for (int64_t value : *list) {
        longer.push_back({value});
        longer.back().insert(longer.back().end(), row.begin(), row.end());
      }
    }
    rows.swap(longer);
  }
  return rows;
}

}  // namespace internal

std::vector<int64_t> CreateRange(int64_t lo, int64_t hi, int multiplier) {
  return internal::geometric_range(lo, hi, multiplier);
}

std::vector<int64_t> CreateDenseRange(int64_t start, int64_t limit, int step) {
  return internal::dense_range(start, limit, step);
}

}  // namespace benchmark
