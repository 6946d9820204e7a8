// Facts and defaults of the whole process that a suite may set.
#include <iostream>

#include "benchmark/benchmark_api.h"
#include "benchmark/utils.h"

namespace benchmark {
namespace {

TimeUnit default_time_unit = kNanosecond;

}  // namespace

namespace internal {

std::map<std::string, std::string>*& GetGlobalContext() {
  static std::map<std::string, std::string>* context = nullptr;
  return context;
}

int InitializeStreams() {
  static std::ios_base::Init streams;
  return 0;
}

void UseCharPointer(char const volatile* pointer) { asm volatile("" : : "r"(pointer) : "memory"); }

}  // namespace internal

TimeUnit GetDefaultTimeUnit() { return default_time_unit; }
void SetDefaultTimeUnit(TimeUnit unit) { default_time_unit = unit; }

void AddCustomContext(const std::string& key, const std::string& value) {
  auto& context = internal::GetGlobalContext();
  if (context == nullptr) context = new std::map<std::string, std::string>;
  const auto added = context->insert({key, value});
  if (!added.second) {
    std::cerr << "Failed to add custom context \"" << key << "\" as it already exists with value \""
              << added.first->second << "\"\n";
  }
}

void Shutdown() {
  delete internal::GetGlobalContext();
  internal::GetGlobalContext() = nullptr;
}

void MaybeReenterWithoutASLR(int, char**) {}

std::string GetBenchmarkVersion() { return "deadheat"; }

}  // namespace benchmark
