#include "instance.h"

#include <cstdio>
#include <cstdlib>

namespace benchmark {
namespace internal {
namespace {

std::string print(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string args_part(const std::vector<std::string>& names, const std::vector<int64_t>& args) {
  std::string part;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) part += '/';
    if (i < names.size() && !names[i].empty()) part += names[i] + ':';
    part += std::to_string(args[i]);
  }
  return part;
}

std::string time_type_part(const Settings& settings) {
  const char* clock = settings.manual_time ? "manual_time" : settings.real_time ? "real_time" : "";
  if (!settings.process_cpu_time) return clock;
  return *clock == '\0' ? "process_time" : std::string("process_time/") + clock;
}

BenchmarkName name_of(const Settings& settings, const std::vector<int64_t>& args, int threads) {
  BenchmarkName name;
  name.function_name = settings.name;
  name.args = args_part(settings.arg_names, args);
  if (settings.min_time > 0) name.min_time = print("min_time:%0.3f", settings.min_time);
  if (settings.min_warmup_time > 0) name.min_warmup_time = print("min_warmup_time:%0.3f", settings.min_warmup_time);
  if (settings.iterations > 0) name.iterations = "iterations:" + std::to_string(settings.iterations);
  if (settings.repetitions > 0) name.repetitions = "repeats:" + std::to_string(settings.repetitions);
  name.time_type = time_type_part(settings);
  if (!settings.thread_counts.empty()) name.threads = "threads:" + std::to_string(threads);
  return name;
}

}  // namespace

BenchmarkInstance::BenchmarkInstance(Benchmark& benchmark, std::vector<int64_t> args, int threads)
    : benchmark_(&benchmark),
      args_(std::move(args)),
      threads_(threads),
      name_(name_of(benchmark.settings(), args_, threads)) {}

State BenchmarkInstance::run(IterationCount iterations, int thread, Batches& batches) const {
  State state(settings().name, iterations, args_, thread, threads_, &batches);
  benchmark_->Run(state);
  return state;
}

void BenchmarkInstance::setup() const {
  if (settings().setup) settings().setup(State(settings().name, 1, args_, 0, threads_, nullptr));
}

void BenchmarkInstance::teardown() const {
  if (settings().teardown) settings().teardown(State(settings().name, 1, args_, 0, threads_, nullptr));
}

bool is_worker() {
  static const bool worker = std::getenv("DEADHEAT_WORKER") != nullptr;
  return worker;
}

}  // namespace internal

std::string BenchmarkName::str() const {
  std::string joined;
  for (const std::string* part :
       {&function_name, &args, &min_time, &min_warmup_time, &iterations, &repetitions, &time_type, &threads}) {
    if (!joined.empty() && !part->empty()) joined += '/';
    joined += *part;
  }
  return joined;
}

}  // namespace benchmark
