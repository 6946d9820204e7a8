#include <cmath>
#include <map>

#include "benchmark/benchmark_api.h"
#include "clocks.h"
#include "complexity.h"
#include "instance.h"
#include "reporters.h"

namespace benchmark {
namespace {

using internal::format;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\\': out += "\\\\"; break;
      case '"': out += "\\\""; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? format("\\u%04x", c) : std::string(1, c);
    }
  }
  return out + "\"";
}

// Python's and JavaScript's names for values that JSON lacks, because compare.py reads them.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string text = format("%.16e", value);
  // C's decimal point follows the locale.
  const size_t comma = text.find(',');
  if (comma != std::string::npos) text[comma] = '.';
  return text;
}

// Writes the members of one object.
class Members {
 public:
  Members(std::ostream& out, int indent) : out_(out), indent_(static_cast<size_t>(indent), ' ') {}

  void add(const std::string& key, const std::string& value) { raw(key, quoted(value)); }
  void add(const std::string& key, const char* value) { raw(key, quoted(value)); }
  void add(const std::string& key, bool value) { raw(key, value ? "true" : "false"); }
  void add(const std::string& key, int64_t value) { raw(key, std::to_string(value)); }
  void add(const std::string& key, int value) { raw(key, std::to_string(value)); }
  void add(const std::string& key, double value) { raw(key, number(value)); }

  void raw(const std::string& key, const std::string& json) {
    out_ << separator_ << indent_ << quoted(key) << ": " << json;
    separator_ = ",\n";
  }

 private:
  std::ostream& out_;
  const std::string indent_;
  const char* separator_ = "";
};

std::string caches(const CPUInfo& cpu) {
  std::string json = "[\n";
  const char* separator = "";
  for (const CPUInfo::CacheInfo& cache : cpu.caches) {
    json += separator;
    json += format(
        "      {\n        \"type\": %s,\n        \"level\": %d,\n        \"size\": %d,\n        \"num_sharing\": %d\n  "
        "    }",
        quoted(cache.type).c_str(), cache.level, cache.size, cache.num_sharing);
    separator = ",\n";
  }
  return json + (cpu.caches.empty() ? "    ]" : "\n    ]");
}

std::string loads(const CPUInfo& cpu) {
  std::string json = "[";
  for (double load : cpu.load_avg) {
    if (json.size() > 1) json += ",";
    json += format("%g", load);
  }
  return json + "]";
}

void add_machine(Members& members, const CPUInfo& cpu, const SystemInfo& system) {
  members.add("num_cpus", cpu.num_cpus);
  members.add("mhz_per_cpu", static_cast<int64_t>(std::lround(cpu.cycles_per_second / 1e6)));
  if (cpu.scaling != CPUInfo::UNKNOWN) members.add("cpu_scaling_enabled", cpu.scaling == CPUInfo::ENABLED);
  if (system.ASLRStatus != SystemInfo::ASLR::UNKNOWN) {
    members.add("aslr_enabled", system.ASLRStatus == SystemInfo::ASLR::ENABLED);
  }
  members.raw("caches", caches(cpu));
  members.raw("load_avg", loads(cpu));
}

void add_identity(Members& members, const BenchmarkReporter::Run& run) {
  members.add("name", run.benchmark_name());
  members.add("family_index", run.family_index);
  members.add("per_family_instance_index", run.per_family_instance_index);
  members.add("run_name", run.run_name.str());
  const bool aggregate = run.run_type == BenchmarkReporter::Run::RT_Aggregate;
  members.add("run_type", aggregate ? "aggregate" : "iteration");
  members.add("repetitions", run.repetitions);
  if (!aggregate) members.add("repetition_index", run.repetition_index);
  members.add("threads", run.threads);
  if (aggregate) {
    members.add("aggregate_name", run.aggregate_name);
    members.add("aggregate_unit", run.aggregate_unit == kTime ? "time" : "percentage");
  }
}

void add_skip(Members& members, const BenchmarkReporter::Run& run) {
  if (run.skipped == internal::SkippedWithError) {
    members.add("error_occurred", true);
    members.add("error_message", run.skip_message);
  } else if (run.skipped == internal::SkippedWithMessage) {
    members.add("skipped", true);
    members.add("skip_message", run.skip_message);
  }
}

void add_times(Members& members, const BenchmarkReporter::Run& run) {
  if (run.report_rms) return members.add("rms", run.GetAdjustedCPUTime());
  if (run.report_big_o) {
    members.add("cpu_coefficient", run.GetAdjustedCPUTime());
    members.add("real_coefficient", run.GetAdjustedRealTime());
    members.add("big_o", internal::big_o_string(run.complexity));
  } else {
    const bool percentage = run.run_type == BenchmarkReporter::Run::RT_Aggregate && run.aggregate_unit == kPercentage;
    members.add("iterations", run.iterations);
    members.add("real_time", percentage ? run.real_accumulated_time : run.GetAdjustedRealTime());
    members.add("cpu_time", percentage ? run.cpu_accumulated_time : run.GetAdjustedCPUTime());
  }
  members.add("time_unit", GetTimeUnitString(run.time_unit));
}

void add_memory(Members& members, const BenchmarkReporter::Run& run) {
  const MemoryManager::Result& memory = run.memory_result;
  if (memory.memory_iterations == 0) return;
  const int64_t not_measured = MemoryManager::TombstoneValue;
  members.add("allocs_per_iter", run.allocs_per_iter);
  members.add("max_bytes_used", memory.max_bytes_used);
  if (memory.total_allocated_bytes != not_measured) {
    members.add("total_allocated_bytes", memory.total_allocated_bytes);
  }
  if (memory.net_heap_growth != not_measured) members.add("net_heap_growth", memory.net_heap_growth);
}

}  // namespace

bool JSONReporter::ReportContext(const Context& context) {
  std::ostream& out = GetOutputStream();
  out << "{\n  \"context\": {\n";
  Members members(out, 4);
  members.add("date", internal::local_date_time());
  members.add("host_name", context.sys_info.name);
  if (Context::executable_name != nullptr) members.add("executable", Context::executable_name);
  add_machine(members, context.cpu_info, context.sys_info);
  members.add("library_version", GetBenchmarkVersion());
#ifdef NDEBUG
  members.add("library_build_type", "release");
#else
  members.add("library_build_type", "debug");
#endif
  members.add("json_schema_version", 1);
  if (const auto* added = internal::GetGlobalContext()) {
    for (const auto& pair : *added) members.add(pair.first, pair.second);
  }
  out << "\n  },\n  \"benchmarks\": [\n";
  return true;
}

void JSONReporter::ReportRuns(const std::vector<Run>& reports) {
  for (const Run& run : reports) {
    if (!first_report_) GetOutputStream() << ",\n";
    first_report_ = false;
    PrintRunData(run);
  }
}

void JSONReporter::PrintRunData(const Run& run) {
  std::ostream& out = GetOutputStream();
  out << "    {\n";
  Members members(out, 6);
  add_identity(members, run);
  add_skip(members, run);
  add_times(members, run);
  for (const auto& counter : run.counters) members.add(counter.first, counter.second.value);
  add_memory(members, run);
  if (!run.report_label.empty()) members.add("label", run.report_label);
  out << "\n    }";
}

void JSONReporter::Finalize() { GetOutputStream() << "\n  ]\n}\n"; }

void JSONReporter::List(const std::vector<internal::BenchmarkInstance>& benchmarks) {
  std::ostream& out = GetOutputStream();
  out << "{\n  \"benchmarks\": [";
  const char* separator = "\n";
  for (const internal::BenchmarkInstance& benchmark : benchmarks) {
    out << separator << "    {\n      \"name\": " << quoted(benchmark.name().str()) << "\n    }";
    separator = ",\n";
  }
  out << "\n  ]\n}\n";
}

}  // namespace benchmark
