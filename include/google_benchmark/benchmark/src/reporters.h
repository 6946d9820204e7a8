// Choosing a reporter, and formatting that reporters share.
#ifndef DEADHEAT_BENCHMARK_REPORTERS_H_
#define DEADHEAT_BENCHMARK_REPORTERS_H_

#include <memory>
#include <string>

#include "benchmark/reporter.h"

namespace benchmark {
namespace internal {

// `format` is "console", "json" or "csv".
std::unique_ptr<BenchmarkReporter> make_reporter(const std::string& format, ConsoleReporter::OutputOptions options);

// printf into a string, independent of the locale of C++ streams.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

// The shortest form with a prefix, such as "1.5k" or "2Mi".
std::string human_readable(double value, Counter::OneK one_k);

}  // namespace internal
}  // namespace benchmark

#endif  // DEADHEAT_BENCHMARK_REPORTERS_H_
