#include "complexity.h"
#include "instance.h"
#include "reporters.h"

namespace benchmark {
namespace {

const char kHeader[] =
    "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message";

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Columns of their own in every file.
bool is_standard(const std::string& counter) { return counter == "bytes_per_second" || counter == "items_per_second"; }

std::string number(double value) { return internal::format("%g", value); }

std::string counter_text(const BenchmarkReporter::Run& run, const std::string& name) {
  const auto found = run.counters.find(name);
  return found == run.counters.end() ? "" : number(found->second.value);
}

std::string times_text(const BenchmarkReporter::Run& run) {
  const bool fraction =
      run.run_type == BenchmarkReporter::Run::RT_Aggregate && run.aggregate_unit == kPercentage && !run.report_rms;
  return number(fraction ? run.real_accumulated_time : run.GetAdjustedRealTime()) + "," +
         number(fraction ? run.cpu_accumulated_time : run.GetAdjustedCPUTime());
}

std::string unit_text(const BenchmarkReporter::Run& run) {
  if (run.report_big_o) return internal::big_o_string(run.complexity);
  return run.report_rms || run.aggregate_unit == kPercentage ? "" : GetTimeUnitString(run.time_unit);
}

}  // namespace

bool CSVReporter::ReportContext(const Context& context) {
  PrintBasicContext(&GetErrorStream(), context);
  return true;
}

// The columns are those of the first rows.
void CSVReporter::PrintHeader(const std::vector<Run>& reports) {
  for (const Run& run : reports) {
    for (const auto& counter : run.counters) {
      if (!is_standard(counter.first)) user_counter_names_.insert(counter.first);
    }
  }
  GetOutputStream() << kHeader;
  for (const std::string& name : user_counter_names_) GetOutputStream() << "," << quoted(name);
  GetOutputStream() << "\n";
}

void CSVReporter::ReportRuns(const std::vector<Run>& reports) {
  if (!printed_header_) PrintHeader(reports);
  printed_header_ = true;
  for (const Run& run : reports) PrintRunData(run);
}

void CSVReporter::PrintRunData(const Run& run) {
  std::ostream& out = GetOutputStream();
  out << quoted(run.benchmark_name()) << ",";
  if (run.skipped != internal::NotSkipped) {
    out << ",,,,,,," << (run.skipped == internal::SkippedWithError ? "true" : "false") << ","
        << quoted(run.skip_message) << "\n";
    return;
  }
  if (!run.report_big_o && !run.report_rms) out << run.iterations;
  out << "," << times_text(run) << "," << unit_text(run) << ",";
  out << counter_text(run, "bytes_per_second") << "," << counter_text(run, "items_per_second") << ",";
  if (!run.report_label.empty()) out << quoted(run.report_label);
  out << ",,";
  for (const std::string& name : user_counter_names_) out << "," << counter_text(run, name);
  out << "\n";
}

void CSVReporter::List(const std::vector<internal::BenchmarkInstance>& benchmarks) {
  GetOutputStream() << "name\n";
  for (const internal::BenchmarkInstance& benchmark : benchmarks) {
    GetOutputStream() << quoted(benchmark.name().str()) << "\n";
  }
}

}  // namespace benchmark
