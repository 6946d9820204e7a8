// Symbol visibility. The library is always linked statically, so both macros only set the default visibility.
#ifndef BENCHMARK_EXPORT_H
#define BENCHMARK_EXPORT_H

#if defined(_MSC_VER)
#error "error: deadheat's benchmark library needs GCC or Clang. help: use Google Benchmark's own library with MSVC"
#endif

#if __cplusplus < 201103L
#error "error: deadheat's benchmark library needs C++11. help: compile with -std=c++11 or later"
#endif

#define BENCHMARK_EXPORT __attribute__((visibility("default")))
#define BENCHMARK_NO_EXPORT __attribute__((visibility("hidden")))
#define BENCHMARK_DEPRECATED __attribute__((__deprecated__))
#define BENCHMARK_DEPRECATED_EXPORT BENCHMARK_EXPORT BENCHMARK_DEPRECATED
#define BENCHMARK_DEPRECATED_NO_EXPORT BENCHMARK_NO_EXPORT BENCHMARK_DEPRECATED

#endif  // BENCHMARK_EXPORT_H
