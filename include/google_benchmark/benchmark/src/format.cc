#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "reporters.h"

namespace benchmark {
namespace internal {

std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::vsnprintf(&text[0], text.size(), pattern, again);
  va_end(again);
  va_end(arguments);
  text.pop_back();
  return text;
}

std::string human_readable(double value, Counter::OneK one_k) {
  static const char large[] = "kMGTPEZY";
  static const char small[] = "munpfazy";
  const double k = one_k;
  const double size = std::fabs(value);

  // A prefix is chosen below k - 1, so that 999.9 does not become 1000.
  double scaled = value;
  if (size > k - 1) {
    for (int i = 0; large[i] != '\0'; ++i) {
      scaled /= k;
      if (std::fabs(scaled) <= k - 1) {
        return format("%g", scaled) + (large[i] == 'k' && k == 1024 ? 'K' : large[i]) + (k == 1024 ? "i" : "");
      }
    }
  } else if (size < 0.01) {
    for (int i = 0; small[i] != '\0'; ++i) {
      scaled *= k;
      if (std::fabs(scaled) >= 1) return format("%g", scaled) + small[i];
    }
  }
  return format("%g", value);
}

}  // namespace internal
}  // namespace benchmark
