#include "options.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "benchmark/benchmark_api.h"
#include "benchmark/reporter.h"
#include "instance.h"
#include "worker.h"

namespace benchmark {
namespace internal {
namespace {

void (*print_help)() = PrintDefaultHelp;

[[noreturn]] void help_and_exit() {
  print_help();
  std::fflush(nullptr);
  std::exit(0);
}

[[noreturn]] void fail(const std::string& what, const std::string& why) {
  std::fprintf(stderr, "error: %s: %s\n", what.c_str(), why.c_str());
  std::exit(1);
}

// One option. `read` returns false if it cannot make sense of the text.
struct Option {
  const char* name;
  bool needs_value;
  std::function<bool(const std::string&)> read;
};

Option flag(const char* name, bool& target) {
  return {name, false, [&target](const std::string& text) {
            target = is_truthy(text);
            return true;
          }};
}

Option text(const char* name, std::string& target) {
  return {name, true, [&target](const std::string& text) {
            target = text;
            return true;
          }};
}

Option number(const char* name, int32_t& target) {
  return {name, true, [&target](const std::string& text) {
            char* end;
            errno = 0;
            const long value = std::strtol(text.c_str(), &end, 10);
            if (*end != '\0' || text.empty() || errno != 0) return false;
            if (value < INT32_MIN || value > INT32_MAX) return false;
            target = static_cast<int32_t>(value);
            return true;
          }};
}

Option number(const char* name, double& target) {
  return {name, true, [&target](const std::string& text) {
            char* end;
            target = std::strtod(text.c_str(), &end);
            return *end == '\0' && !text.empty();
          }};
}

// key=value,key=value
Option pairs(const char* name, std::map<std::string, std::string>& target) {
  return {name, true, [&target](const std::string& text) {
            size_t start = 0;
            while (start <= text.size()) {
              const size_t comma = std::min(text.find(',', start), text.size());
              const std::string pair = text.substr(start, comma - start);
              const size_t equals = pair.find('=');
              if (equals == std::string::npos || pair.find('=', equals + 1) != std::string::npos) return false;
              target.emplace(pair.substr(0, equals), pair.substr(equals + 1));
              start = comma + 1;
            }
            return true;
          }};
}

std::vector<Option> table(Options& o) {
  return {
      flag("benchmark_list_tests", o.list_tests),
      text("benchmark_filter", o.filter),
      text("benchmark_min_time", o.min_time),
      number("benchmark_min_warmup_time", o.min_warmup_time),
      number("benchmark_repetitions", o.repetitions),
      flag("benchmark_dry_run", o.dry_run),
      flag("benchmark_enable_random_interleaving", o.random_interleaving),
      flag("benchmark_report_aggregates_only", o.report_aggregates_only),
      flag("benchmark_display_aggregates_only", o.display_aggregates_only),
      text("benchmark_format", o.format),
      text("benchmark_out_format", o.out_format),
      text("benchmark_out", o.out),
      text("benchmark_color", o.color),
      flag("benchmark_counters_tabular", o.counters_tabular),
      text("benchmark_perf_counters", o.perf_counters),
      pairs("benchmark_context", o.context),
      text("benchmark_time_unit", o.time_unit),
      number("v", o.verbosity),
  };
}

// The text after "--name=", or "" for a bare "--name" if the option may stand alone; null if it is another argument.
const char* value_of(const char* argument, const Option& option) {
  if (std::strncmp(argument, "--", 2) != 0) return nullptr;
  const size_t length = std::strlen(option.name);
  if (std::strncmp(argument + 2, option.name, length) != 0) return nullptr;
  const char* rest = argument + 2 + length;
  if (*rest == '=') return rest + 1;
  return *rest == '\0' && !option.needs_value ? rest : nullptr;
}

void read_environment(Options& options) {
  for (const Option& option : table(options)) {
    if (std::strcmp(option.name, "v") == 0) continue;
    std::string variable = option.name;
    for (char& c : variable) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const char* value = std::getenv(variable.c_str());
    if (value != nullptr && !option.read(value)) {
      fail("the environment variable " + variable, "cannot read its value '" + std::string(value) + "'");
    }
  }
}

// Returns true if `argument` is one of ours.
bool read_argument(const std::vector<Option>& options, const char* argument) {
  for (const Option& option : options) {
    const char* value = value_of(argument, option);
    if (value == nullptr) continue;
    if (!option.read(value))
      fail(std::string("--") + option.name, "cannot read its value '" + std::string(value) + "'");
    return true;
  }
  return false;
}

// Remembers an option that has no effect in a race. deadheat adds --benchmark_list_tests itself.
void add_ignored(const std::string& name) {
  std::string& ignored = worker_arguments().ignored;
  if (name == "--benchmark_list_tests" || (ignored + ",").find(name + ",") != std::string::npos) return;
  ignored += (ignored.empty() ? "" : ", ") + name;
}

// Leaves the arguments of the user to the suite: those after "--", or all without "--", because deadheat removes the
// "--" of its own command line. Options of Google Benchmark are not for the suite; of them, only the filter has an effect.
void read_worker_arguments(int* argc, char** argv) {
  const std::vector<Option> options = table(internal::options());
  const bool has_divider = std::any_of(argv + 1, argv + *argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  int kept = 1;
  bool is_users = !has_divider;
  for (int i = 1; i < *argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--fresh" && is_users) {
      worker_arguments().fresh = true;
    } else if (argument.rfind("--benchmark_", 0) == 0) {
      if (argument.rfind("--benchmark_filter=", 0) == 0)
        read_argument(options, argv[i]);
      else
        add_ignored(argument.substr(0, argument.find('=')));
    } else if (is_users && argument != "--") {
      argv[kept++] = argv[i];
    }
    is_users |= argument == "--";
  }
  *argc = kept;
}

void read_arguments(int* argc, char** argv) {
  const std::vector<Option> options = table(internal::options());
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    if (read_argument(options, argv[i])) continue;
    if (std::strcmp(argv[i], "--help") == 0) help_and_exit();
    argv[kept++] = argv[i];
  }
  *argc = kept;
}

bool is_format(const std::string& name) { return name == "console" || name == "json" || name == "csv"; }

void apply_time_unit(const std::string& name) {
  if (name.empty()) return;
  for (TimeUnit unit : {kNanosecond, kMicrosecond, kMillisecond, kSecond}) {
    if (name == GetTimeUnitString(unit)) return SetDefaultTimeUnit(unit);
  }
  help_and_exit();
}

}  // namespace

Options& options() {
  static Options* const options = [] {
    Options* read = new Options;
    read_environment(*read);
    return read;
  }();
  return *options;
}

MinTime parse_min_time(const std::string& text) {
  const std::string what = "--benchmark_min_time";
  const std::string why = "'" + text + "' is neither seconds, such as 0.5s, nor iterations, such as 100x";
  if (text.empty()) return {0, 0};
  char* end;
  if (text.back() == 'x') {
    const long long iterations = std::strtoll(text.c_str(), &end, 10);
    if (*end != 'x' || iterations <= 0) fail(what, why);
    return {0, iterations};
  }
  const double seconds = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || (std::strcmp(end, "s") != 0 && *end != '\0')) fail(what, why);
  return {seconds, 0};
}

bool is_truthy(const std::string& text) {
  std::string lower;
  for (char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* no : {"0", "f", "n", "false", "no", "off"}) {
    if (lower == no) return false;
  }
  return lower.size() != 1 || std::isalnum(static_cast<unsigned char>(lower[0]));
}

}  // namespace internal

void Initialize(int* argc, char** argv, void (*print_help)()) {
  internal::print_help = print_help;
  const bool has_arguments = argc != nullptr && *argc > 0;
  BenchmarkReporter::Context::executable_name = has_arguments ? argv[0] : "unknown";
  // A worker serves the whole suite, and deadheat selects.
  if (internal::is_worker()) {
    if (has_arguments) internal::read_worker_arguments(argc, argv);
    return;
  }
  if (has_arguments) internal::read_arguments(argc, argv);

  const internal::Options& options = internal::options();
  if (!internal::is_format(options.format) || !internal::is_format(options.out_format) || options.color.empty()) {
    internal::help_and_exit();
  }
  internal::apply_time_unit(options.time_unit);
  if (options.dry_run) AddCustomContext("dry_run", "true");
  for (const auto& pair : options.context) AddCustomContext(pair.first, pair.second);
}

bool ReportUnrecognizedArguments(int argc, char** argv) {
  if (internal::is_worker()) return false;
  for (int i = 1; i < argc; ++i) {
    std::fprintf(stderr, "%s: error: unrecognized command-line flag: %s\n", argv[0], argv[i]);
  }
  return argc > 1;
}

void PrintDefaultHelp() {
  std::fputs(
      "benchmark [--benchmark_list_tests={true|false}]\n"
      "          [--benchmark_filter=<regex>]\n"
      "          [--benchmark_min_time=`<integer>x` OR `<float>s` ]\n"
      "          [--benchmark_min_warmup_time=<min_warmup_time>]\n"
      "          [--benchmark_repetitions=<num_repetitions>]\n"
      "          [--benchmark_dry_run={true|false}]\n"
      "          [--benchmark_enable_random_interleaving={true|false}]\n"
      "          [--benchmark_report_aggregates_only={true|false}]\n"
      "          [--benchmark_display_aggregates_only={true|false}]\n"
      "          [--benchmark_format=<console|json|csv>]\n"
      "          [--benchmark_out=<filename>]\n"
      "          [--benchmark_out_format=<json|console|csv>]\n"
      "          [--benchmark_color={auto|true|false}]\n"
      "          [--benchmark_counters_tabular={true|false}]\n"
      "          [--benchmark_context=<key>=<value>,...]\n"
      "          [--benchmark_time_unit={ns|us|ms|s}]\n"
      "          [--v=<verbosity>]\n",
      stdout);
}

std::string GetBenchmarkFilter() { return internal::options().filter; }
void SetBenchmarkFilter(std::string value) { internal::options().filter = std::move(value); }
int32_t GetBenchmarkVerbosity() { return internal::options().verbosity; }

}  // namespace benchmark
