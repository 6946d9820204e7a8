// Google Benchmark's API on deadheat's engine. A suite includes this file and is compiled unchanged.
// Started by `deadheat`, its executable races; started by hand, it prints Google Benchmark's table.
#ifndef BENCHMARK_BENCHMARK_H_
#define BENCHMARK_BENCHMARK_H_

#include "benchmark/benchmark_api.h"
#include "benchmark/counter.h"
#include "benchmark/macros.h"
#include "benchmark/managers.h"
#include "benchmark/registration.h"
#include "benchmark/reporter.h"
#include "benchmark/state.h"
#include "benchmark/statistics.h"
#include "benchmark/sysinfo.h"
#include "benchmark/types.h"
#include "benchmark/utils.h"

#endif  // BENCHMARK_BENCHMARK_H_
