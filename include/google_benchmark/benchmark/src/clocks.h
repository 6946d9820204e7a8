// The clocks, in seconds.
#ifndef DEADHEAT_BENCHMARK_CLOCKS_H_
#define DEADHEAT_BENCHMARK_CLOCKS_H_

#include <string>

namespace benchmark {
namespace internal {

double real_time();
double thread_cpu_time();
double process_cpu_time();

// The local time in RFC 3339's format.
std::string local_date_time();

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_CLOCKS_H_
