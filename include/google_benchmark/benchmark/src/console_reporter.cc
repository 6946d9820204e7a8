#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "benchmark/benchmark_api.h"
#include "complexity.h"
#include "counters.h"
#include "options.h"
#include "reporters.h"

namespace benchmark {
namespace {

using internal::format;

enum Color { kDefault = 0, kRed = 31, kGreen = 32, kYellow = 33, kBlue = 34, kCyan = 36, kWhite = 37 };

// Writes pieces of a line, in color if the reporter asks for it.
class Painter {
 public:
  Painter(std::ostream& out, bool colored) : out_(out), colored_(colored) {}

  void operator()(Color color, const std::string& text) {
    if (!colored_) {
      out_ << text;
      return;
    }
    if (color != kDefault) out_ << format("\033[0;%dm", color);
    out_ << text << "\033[m";
  }

 private:
  std::ostream& out_;
  const bool colored_;
};

// Ten columns, with as many decimals as are worth reading.
std::string time_text(double time) {
  if (time < 1) return format("%10.3f", time);
  if (time < 10) return format("%10.2f", time);
  if (time < 100) return format("%10.1f", time);
  return time > 9999999999 ? format("%1.4e", time) : format("%10.0f", time);
}

std::string times_text(const BenchmarkReporter::Run& run) {
  const double real = run.GetAdjustedRealTime(), cpu = run.GetAdjustedCPUTime();
  if (run.report_big_o) {
    const std::string big_o = internal::big_o_string(run.complexity);
    return format("%10.2f %-4s %10.2f %-4s ", real, big_o.c_str(), cpu, big_o.c_str());
  }
  if (run.report_rms) return format("%10.0f %-4s %10.0f %-4s ", real * 100, "%", cpu * 100, "%");
  if (run.run_type == BenchmarkReporter::Run::RT_Aggregate && run.aggregate_unit == kPercentage) {
    return format("%10.2f %-4s %10.2f %-4s ", run.real_accumulated_time * 100, "%", run.cpu_accumulated_time * 100,
                  "%");
  }
  const char* unit = GetTimeUnitString(run.time_unit);
  return format("%s %-4s %s %-4s ", time_text(real).c_str(), unit, time_text(cpu).c_str(), unit);
}

struct CounterText {
  std::string value;
  const char* unit;
};

CounterText counter_text(const BenchmarkReporter::Run& run, const Counter& counter) {
  if (run.run_type == BenchmarkReporter::Run::RT_Aggregate && run.aggregate_unit == kPercentage) {
    return {format("%.2f", counter.value * 100), "%"};
  }
  const bool rate = counter.flags & Counter::kIsRate;
  const bool inverse = counter.flags & Counter::kInvert;
  return {internal::human_readable(counter.value, counter.oneK), !rate ? "" : inverse ? "s" : "/s"};
}

bool is_color_terminal() {
  const char* term = getenv("TERM");
  return isatty(STDOUT_FILENO) && term != nullptr && std::strcmp(term, "dumb") != 0 && *term != '\0';
}

}  // namespace

bool ConsoleReporter::ReportContext(const Context& context) {
  name_field_width_ = context.name_field_width;
  printed_header_ = false;
  prev_counters_.clear();
  PrintBasicContext(&GetErrorStream(), context);
  return true;
}

void ConsoleReporter::PrintHeader(const Run& run) {
  std::string header =
      format("%-*s %13s %15s %12s", static_cast<int>(name_field_width_), "Benchmark", "Time", "CPU", "Iterations");
  if (output_options_ & OO_Tabular) {
    for (const auto& counter : run.counters) header += format(" %10s", counter.first.c_str());
  } else if (!run.counters.empty()) {
    header += " UserCounters...";
  }
  const std::string line(header.size(), '-');
  GetOutputStream() << line << "\n" << header << "\n" << line << "\n";
}

void ConsoleReporter::ReportRuns(const std::vector<Run>& reports) {
  for (const Run& run : reports) {
    const bool other_columns = (output_options_ & OO_Tabular) && !internal::same_names(run.counters, prev_counters_);
    if (!printed_header_ || other_columns) {
      printed_header_ = true;
      prev_counters_ = run.counters;
      PrintHeader(run);
    }
    PrintRunData(run);
  }
}

void ConsoleReporter::PrintRunData(const Run& run) {
  Painter print(GetOutputStream(), output_options_ & OO_Color);
  const bool fit = run.report_big_o || run.report_rms;
  print(fit ? kBlue : kGreen, format("%-*s ", static_cast<int>(name_field_width_), run.benchmark_name().c_str()));
  if (run.skipped != internal::NotSkipped) {
    const bool error = run.skipped == internal::SkippedWithError;
    print(error ? kRed : kWhite, (error ? "ERROR OCCURRED: '" : "SKIPPED: '") + run.skip_message + "'");
    print(kDefault, "\n");
    return;
  }

  print(kYellow, times_text(run));
  if (!fit) print(kCyan, format("%10lld", static_cast<long long>(run.iterations)));
  for (const auto& named : run.counters) {
    const CounterText text = counter_text(run, named.second);
    if (output_options_ & OO_Tabular) {
      const size_t width = std::max<size_t>(10, named.first.size()) - std::strlen(text.unit);
      print(kDefault, format(" %*s%s", static_cast<int>(width), text.value.c_str(), text.unit));
    } else {
      print(kDefault, " " + named.first + "=" + text.value + text.unit);
    }
  }
  if (!run.report_label.empty()) print(kDefault, " " + run.report_label);
  print(kDefault, "\n");
}

namespace internal {

std::unique_ptr<BenchmarkReporter> make_reporter(const std::string& name, ConsoleReporter::OutputOptions options) {
  if (name == "json") return std::unique_ptr<BenchmarkReporter>(new JSONReporter);
  if (name == "csv") return std::unique_ptr<BenchmarkReporter>(new CSVReporter);
  return std::unique_ptr<BenchmarkReporter>(new ConsoleReporter(options));
}

}  // namespace internal

OwnedReporter CreateDefaultDisplayReporter() {
  const internal::Options& options = internal::options();
  const bool color = options.color == "auto" ? is_color_terminal() : internal::is_truthy(options.color);
  const int output =
      (color ? ConsoleReporter::OO_Color : 0) | (options.counters_tabular ? ConsoleReporter::OO_Tabular : 0);
  return OwnedReporter(
      internal::make_reporter(options.format, static_cast<ConsoleReporter::OutputOptions>(output)).release());
}

}  // namespace benchmark
