// Sequences of arguments and thread counts.
#ifndef DEADHEAT_BENCHMARK_RANGES_H_
#define DEADHEAT_BENCHMARK_RANGES_H_

#include <cstdint>
#include <vector>

namespace benchmark {
namespace internal {

// `lo`, the powers of `multiplier` (and their negatives, and 0) between, and `hi`, in ascending order.
std::vector<int64_t> geometric_range(int64_t lo, int64_t hi, int multiplier);

std::vector<int64_t> dense_range(int64_t start, int64_t limit, int step);

// Every choice of one value from each list; the first list varies fastest.
std::vector<std::vector<int64_t>> product(const std::vector<std::vector<int64_t>>& lists);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_RANGES_H_
