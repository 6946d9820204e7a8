// The machine, as reports describe it.
#ifndef BENCHMARK_SYSINFO_H_
#define BENCHMARK_SYSINFO_H_

#include <string>
#include <vector>

#include "benchmark/macros.h"

namespace benchmark {

struct BENCHMARK_EXPORT CPUInfo {
  struct CacheInfo {
    std::string type;
    int level;
    int size;
    int num_sharing;
  };

  enum Scaling { UNKNOWN, ENABLED, DISABLED };

  int num_cpus;
  Scaling scaling;
  double cycles_per_second;
  std::vector<CacheInfo> caches;
  std::vector<double> load_avg;

  static const CPUInfo& Get();

 private:
  CPUInfo();
  BENCHMARK_DISALLOW_COPY_AND_ASSIGN(CPUInfo);
};

struct BENCHMARK_EXPORT SystemInfo {
  enum class ASLR { UNKNOWN, ENABLED, DISABLED };

  std::string name;
  ASLR ASLRStatus;

  static const SystemInfo& Get();

 private:
  SystemInfo();
  BENCHMARK_DISALLOW_COPY_AND_ASSIGN(SystemInfo);
};

}  // namespace benchmark

#endif  // BENCHMARK_SYSINFO_H_
