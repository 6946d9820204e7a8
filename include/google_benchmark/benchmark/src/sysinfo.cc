#include "benchmark/sysinfo.h"

#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/personality.h>
#endif

#include <cctype>
#include <fstream>
#include <string>

namespace benchmark {
namespace {

const std::string kCpus = "/sys/devices/system/cpu/";

// The first word of a file; empty if there is none.
std::string word_in(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

double number_in(const std::string& path) { return atof(word_in(path).c_str()); }

int cpu_count() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

CPUInfo::Scaling scaling_of(int cpus) {
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const std::string governor = word_in(kCpus + "cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor");
    if (!governor.empty() && governor != "performance") return CPUInfo::ENABLED;
  }
  return CPUInfo::DISABLED;
}

// The highest clock rate that the kernel names.
double cycles_per_second(CPUInfo::Scaling scaling) {
  const std::string frequency = kCpus + "cpu0/cpufreq/";
  double khz = number_in(kCpus + "cpu0/tsc_freq_khz");
  if (khz == 0 && scaling == CPUInfo::DISABLED) khz = number_in(frequency + "scaling_cur_freq");
  if (khz == 0) khz = number_in(frequency + "cpuinfo_max_freq");
  if (khz != 0) return khz * 1000;

  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.compare(0, 7, "cpu MHz") == 0) return atof(line.c_str() + line.find(':') + 1) * 1e6;
  }
  return 0;
}

// The CPUs in a hexadecimal mask such as "0000ffff,ffffffff".
int cpus_in_mask(const std::string& mask) {
  int count = 0;
  for (char digit : mask) {
    if (isxdigit(static_cast<unsigned char>(digit))) {
      count += __builtin_popcountl(strtoul(std::string(1, digit).c_str(), nullptr, 16));
    }
  }
  return count;
}

std::vector<CPUInfo::CacheInfo> caches_of_first_cpu() {
  std::vector<CPUInfo::CacheInfo> caches;
  for (int index = 0;; ++index) {
    const std::string folder = kCpus + "cpu0/cache/index" + std::to_string(index) + "/";
    const std::string type = word_in(folder + "type");
    if (type.empty()) return caches;
    const std::string size = word_in(folder + "size");
    const int unit = size.empty() ? 1 : size.back() == 'K' ? 1024 : size.back() == 'M' ? 1024 * 1024 : 1;
    caches.push_back({type, static_cast<int>(number_in(folder + "level")), atoi(size.c_str()) * unit,
                      cpus_in_mask(word_in(folder + "shared_cpu_map"))});
  }
}

std::vector<double> load_averages() {
  double loads[3];
  const int count = getloadavg(loads, 3);
  return std::vector<double>(loads, loads + (count > 0 ? count : 0));
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

SystemInfo::ASLR address_randomization() {
#if defined(__linux__)
  const int current = personality(0xffffffff);
  return current & ADDR_NO_RANDOMIZE ? SystemInfo::ASLR::DISABLED : SystemInfo::ASLR::ENABLED;
#else
  return SystemInfo::ASLR::UNKNOWN;
#endif
}

}  // namespace

CPUInfo::CPUInfo()
    : num_cpus(cpu_count()),
      scaling(scaling_of(num_cpus)),
      cycles_per_second(benchmark::cycles_per_second(scaling)),
      caches(caches_of_first_cpu()),
      load_avg(load_averages()) {}

const CPUInfo& CPUInfo::Get() {
  static const CPUInfo info;
  return info;
}

SystemInfo::SystemInfo() : name(host_name()), ASLRStatus(address_randomization()) {}

const SystemInfo& SystemInfo::Get() {
  static const SystemInfo info;
  return info;
}

}  // namespace benchmark
