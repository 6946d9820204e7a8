#include "clocks.h"

#include <time.h>

namespace benchmark {
namespace internal {
namespace {

double read(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

double real_time() { return read(CLOCK_MONOTONIC); }
double thread_cpu_time() { return read(CLOCK_THREAD_CPUTIME_ID); }
double process_cpu_time() { return read(CLOCK_PROCESS_CPUTIME_ID); }

std::string local_date_time() {
  const time_t now = time(nullptr);
  tm local;
  localtime_r(&now, &local);
  char text[64];
  std::string stamp(text, strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local));
  // strftime prints +0100, the format wants +01:00.
  return stamp.insert(stamp.size() - 2, ":");
}

}  // namespace internal
}  // namespace benchmark
