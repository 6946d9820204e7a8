#include "benchmark/reporter.h"

#include <map>

#include "benchmark/benchmark_api.h"
#include "clocks.h"
#include "instance.h"
#include "reporters.h"

namespace benchmark {

const char* BenchmarkReporter::Context::executable_name;

BenchmarkReporter::Context::Context() : cpu_info(CPUInfo::Get()), sys_info(SystemInfo::Get()), name_field_width(0) {}

BenchmarkReporter::Run::Run()
    : family_index(0),
      per_family_instance_index(0),
      run_type(RT_Iteration),
      aggregate_unit(kTime),
      skipped(internal::NotSkipped),
      error_occurred(false),
      iterations(1),
      threads(1),
      repetition_index(0),
      repetitions(1),
      time_unit(kNanosecond),
      real_accumulated_time(0),
      cpu_accumulated_time(0),
      max_heapbytes_used(0),
      use_real_time_for_initial_big_o(false),
      complexity(oNone),
      complexity_lambda(nullptr),
      complexity_n(0),
      statistics(nullptr),
      report_big_o(false),
      report_rms(false),
      allocs_per_iter(0) {}

namespace {

double per_iteration(double seconds, const BenchmarkReporter::Run& run) {
  const double time = seconds * GetTimeUnitMultiplier(run.time_unit);
  return run.iterations == 0 ? time : time / static_cast<double>(run.iterations);
}

void print_caches(std::ostream& out, const CPUInfo& cpu) {
  if (cpu.caches.empty()) return;
  out << "CPU Caches:\n";
  for (const CPUInfo::CacheInfo& cache : cpu.caches) {
    out << internal::format("  L%d %s %d KiB", cache.level, cache.type.c_str(), cache.size / 1024);
    if (cache.num_sharing != 0) out << internal::format(" (x%d)", cpu.num_cpus / cache.num_sharing);
    out << "\n";
  }
}

void print_load(std::ostream& out, const CPUInfo& cpu) {
  if (cpu.load_avg.empty()) return;
  out << "Load Average: ";
  const char* separator = "";
  for (double load : cpu.load_avg) {
    out << separator << internal::format("%.2f", load);
    separator = ", ";
  }
  out << "\n";
}

}  // namespace

std::string BenchmarkReporter::Run::benchmark_name() const {
  return run_type == RT_Aggregate ? run_name.str() + "_" + aggregate_name : run_name.str();
}

double BenchmarkReporter::Run::GetAdjustedRealTime() const { return per_iteration(real_accumulated_time, *this); }
double BenchmarkReporter::Run::GetAdjustedCPUTime() const { return per_iteration(cpu_accumulated_time, *this); }

BenchmarkReporter::BenchmarkReporter() : output_stream_(&std::cout), error_stream_(&std::cerr) {}
BenchmarkReporter::~BenchmarkReporter() = default;

void BenchmarkReporter::PrintBasicContext(std::ostream* out, Context const& context) {
  const CPUInfo& cpu = context.cpu_info;
  *out << internal::local_date_time() << "\n";
  if (Context::executable_name != nullptr) *out << "Running " << Context::executable_name << "\n";
  *out << internal::format("Run on (%d X %g MHz CPU %s)\n", cpu.num_cpus, cpu.cycles_per_second / 1e6,
                           cpu.num_cpus > 1 ? "s" : "");
  print_caches(*out, cpu);
  print_load(*out, cpu);
  if (const auto* added = internal::GetGlobalContext()) {
    for (const auto& pair : *added) *out << pair.first << ": " << pair.second << "\n";
  }
  if (cpu.scaling == CPUInfo::ENABLED) {
    *out << "***WARNING*** CPU scaling is enabled, the benchmark real time measurements may be noisy and will incur "
            "extra overhead.\n";
  }
  if (context.sys_info.ASLRStatus == SystemInfo::ASLR::ENABLED) {
    *out << "***WARNING*** ASLR is enabled, the results may have unreproducible noise in them.\n";
  }
#ifndef NDEBUG
  *out << "***WARNING*** Library was built as DEBUG. Timings may be affected.\n";
#endif
}

void BenchmarkReporter::List(const std::vector<internal::BenchmarkInstance>& benchmarks) {
  for (const internal::BenchmarkInstance& benchmark : benchmarks) GetOutputStream() << benchmark.name().str() << "\n";
}

}  // namespace benchmark
