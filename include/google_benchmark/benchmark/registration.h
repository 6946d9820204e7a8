// The registration macros. Their names, and the names that they give benchmarks, are Google Benchmark's.
#ifndef BENCHMARK_REGISTRATION_H_
#define BENCHMARK_REGISTRATION_H_

#include "benchmark/benchmark_api.h"
#include "benchmark/macros.h"

// Newer compilers warn that __COUNTER__ is an extension.
#if defined(__clang__)
#define BENCHMARK_DISABLE_COUNTER_WARNING                                                       \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunknown-warning-option\"") \
      _Pragma("GCC diagnostic ignored \"-Wc2y-extensions\"")
#define BENCHMARK_RESTORE_COUNTER_WARNING _Pragma("GCC diagnostic pop")
#else
#define BENCHMARK_DISABLE_COUNTER_WARNING
#define BENCHMARK_RESTORE_COUNTER_WARNING
#endif

#define BENCHMARK_PRIVATE_JOIN_AFTER_EXPANSION(a, b) a##b
#define BENCHMARK_PRIVATE_JOIN(a, b) BENCHMARK_PRIVATE_JOIN_AFTER_EXPANSION(a, b)
#define BENCHMARK_PRIVATE_NAME(...) BENCHMARK_PRIVATE_JOIN(deadheat_benchmark_, __COUNTER__)

// The variable that makes a registration run before `main`.
#define BENCHMARK_PRIVATE_DECLARE(n)                                   \
  BENCHMARK_DISABLE_COUNTER_WARNING                                    \
  static ::benchmark::Benchmark const* const BENCHMARK_PRIVATE_NAME(n) \
      BENCHMARK_RESTORE_COUNTER_WARNING BENCHMARK_UNUSED

#define BENCHMARK_PRIVATE_REGISTER(name, ...)                                      \
  BENCHMARK_PRIVATE_DECLARE(_) = ::benchmark::internal::RegisterBenchmarkInternal( \
      new ::benchmark::internal::FunctionBenchmark(name, static_cast<::benchmark::internal::Function*>(__VA_ARGS__)))

// ---- Functions ----------------------------------------------------------------------------------------------------

#define BENCHMARK(...) BENCHMARK_PRIVATE_REGISTER(#__VA_ARGS__, __VA_ARGS__)
#define BENCHMARK_NAMED(func, test_case_name) BENCHMARK_PRIVATE_REGISTER(#func "/" #test_case_name, func)
#define BENCHMARK_CAPTURE(func, test_case_name, ...) \
  BENCHMARK_PRIVATE_REGISTER(#func "/" #test_case_name, [](::benchmark::State& state) { func(state, __VA_ARGS__); })

#define BENCHMARK_WITH_ARG(n, a) BENCHMARK(n)->Arg((a))
#define BENCHMARK_WITH_ARG2(n, a1, a2) BENCHMARK(n)->Args({(a1), (a2)})
#define BENCHMARK_WITH_UNIT(n, t) BENCHMARK(n)->Unit((t))
#define BENCHMARK_RANGE(n, lo, hi) BENCHMARK(n)->Range((lo), (hi))
#define BENCHMARK_RANGE2(n, l1, h1, l2, h2) BENCHMARK(n)->RangePair({{(l1), (h1)}, {(l2), (h2)}})

#define BENCHMARK_TEMPLATE(n, ...) BENCHMARK_PRIVATE_REGISTER(#n "<" #__VA_ARGS__ ">", n<__VA_ARGS__>)
#define BENCHMARK_TEMPLATE1(n, a) BENCHMARK_PRIVATE_REGISTER(#n "<" #a ">", n<a>)
#define BENCHMARK_TEMPLATE2(n, a, b) BENCHMARK_PRIVATE_REGISTER(#n "<" #a "," #b ">", n<a, b>)
#define BENCHMARK_TEMPLATE1_CAPTURE(func, a, test_case_name, ...) \
  BENCHMARK_CAPTURE(func<a>, test_case_name, __VA_ARGS__)
#define BENCHMARK_TEMPLATE2_CAPTURE(func, a, b, test_case_name, ...)   \
  BENCHMARK_PRIVATE_REGISTER(#func "<" #a "," #b ">/" #test_case_name, \
                             [](::benchmark::State& state) { func<a, b>(state, __VA_ARGS__); })

// ---- Fixtures -----------------------------------------------------------------------------------------------------

#define BENCHMARK_PRIVATE_CONCAT_NAME(BaseClass, Method) BaseClass##_##Method##_Benchmark

// Declares the class of one benchmark of a fixture: `Class`, named `name`, derived from the fixture in `...`.
#define BENCHMARK_PRIVATE_DECLARE_CLASS(Class, name, ...) \
  class Class : public __VA_ARGS__ {                      \
   public:                                                \
    Class() { this->SetName(name); }                      \
                                                          \
   protected:                                             \
    void BenchmarkCase(::benchmark::State&) override;     \
  };

#define BENCHMARK_PRIVATE_DECLARE_F(BaseClass, Method) \
  BENCHMARK_PRIVATE_DECLARE_CLASS(BENCHMARK_PRIVATE_CONCAT_NAME(BaseClass, Method), #BaseClass "/" #Method, BaseClass)
#define BENCHMARK_TEMPLATE_PRIVATE_DECLARE_F(BaseClass, Method, ...)                \
  BENCHMARK_PRIVATE_DECLARE_CLASS(BENCHMARK_PRIVATE_CONCAT_NAME(BaseClass, Method), \
                                  #BaseClass "<" #__VA_ARGS__ ">/" #Method, BaseClass<__VA_ARGS__>)
#define BENCHMARK_TEMPLATE1_PRIVATE_DECLARE_F(BaseClass, Method, a) \
  BENCHMARK_TEMPLATE_PRIVATE_DECLARE_F(BaseClass, Method, a)
#define BENCHMARK_TEMPLATE2_PRIVATE_DECLARE_F(BaseClass, Method, a, b)              \
  BENCHMARK_PRIVATE_DECLARE_CLASS(BENCHMARK_PRIVATE_CONCAT_NAME(BaseClass, Method), \
                                  #BaseClass "<" #a "," #b ">/" #Method, BaseClass<a, b>)

#define BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method) \
  void BENCHMARK_PRIVATE_CONCAT_NAME(BaseClass, Method)::BenchmarkCase

#define BENCHMARK_DEFINE_F(BaseClass, Method) \
  BENCHMARK_PRIVATE_DECLARE_F(BaseClass, Method) BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method)
#define BENCHMARK_TEMPLATE_DEFINE_F(BaseClass, Method, ...)            \
  BENCHMARK_TEMPLATE_PRIVATE_DECLARE_F(BaseClass, Method, __VA_ARGS__) \
  BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method)
#define BENCHMARK_TEMPLATE1_DEFINE_F(BaseClass, Method, a) \
  BENCHMARK_TEMPLATE1_PRIVATE_DECLARE_F(BaseClass, Method, a) BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method)
#define BENCHMARK_TEMPLATE2_DEFINE_F(BaseClass, Method, a, b) \
  BENCHMARK_TEMPLATE2_PRIVATE_DECLARE_F(BaseClass, Method, a, b) BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method)

#define BENCHMARK_REGISTER_F(BaseClass, Method) \
  BENCHMARK_PRIVATE_REGISTER_F(BENCHMARK_PRIVATE_CONCAT_NAME(BaseClass, Method))
#define BENCHMARK_PRIVATE_REGISTER_F(TestName) \
  BENCHMARK_PRIVATE_DECLARE(_) = ::benchmark::internal::RegisterBenchmarkInternal(new TestName())

#define BENCHMARK_F(BaseClass, Method)           \
  BENCHMARK_PRIVATE_DECLARE_F(BaseClass, Method) \
  BENCHMARK_REGISTER_F(BaseClass, Method);       \
  BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method)
#define BENCHMARK_TEMPLATE_F(BaseClass, Method, ...)                   \
  BENCHMARK_TEMPLATE_PRIVATE_DECLARE_F(BaseClass, Method, __VA_ARGS__) \
  BENCHMARK_REGISTER_F(BaseClass, Method);                             \
  BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method)
#define BENCHMARK_TEMPLATE1_F(BaseClass, Method, a)           \
  BENCHMARK_TEMPLATE1_PRIVATE_DECLARE_F(BaseClass, Method, a) \
  BENCHMARK_REGISTER_F(BaseClass, Method);                    \
  BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method)
#define BENCHMARK_TEMPLATE2_F(BaseClass, Method, a, b)           \
  BENCHMARK_TEMPLATE2_PRIVATE_DECLARE_F(BaseClass, Method, a, b) \
  BENCHMARK_REGISTER_F(BaseClass, Method);                       \
  BENCHMARK_PRIVATE_DEFINE_F(BaseClass, Method)

// One method for several instances of a fixture template.
#define BENCHMARK_TEMPLATE_PRIVATE_CONCAT_NAME_F(BaseClass, Method) BaseClass##_##Method##_BenchmarkTemplate

#define BENCHMARK_TEMPLATE_METHOD_F(BaseClass, Method)                                            \
  template <class... Args>                                                                        \
  class BENCHMARK_TEMPLATE_PRIVATE_CONCAT_NAME_F(BaseClass, Method) : public BaseClass<Args...> { \
   protected:                                                                                     \
    using Base = BaseClass<Args...>;                                                              \
    void BenchmarkCase(::benchmark::State&) override;                                             \
  };                                                                                              \
  template <class... Args>                                                                        \
  void BENCHMARK_TEMPLATE_PRIVATE_CONCAT_NAME_F(BaseClass, Method)<Args...>::BenchmarkCase

#define BENCHMARK_TEMPLATE_PRIVATE_INSTANTIATE_F(BaseClass, Method, Class, ...)                   \
  class Class : public BENCHMARK_TEMPLATE_PRIVATE_CONCAT_NAME_F(BaseClass, Method)<__VA_ARGS__> { \
   public:                                                                                        \
    Class() { this->SetName(#BaseClass "<" #__VA_ARGS__ ">/" #Method); }                          \
  };                                                                                              \
  BENCHMARK_PRIVATE_REGISTER_F(Class)

#define BENCHMARK_TEMPLATE_INSTANTIATE_F(BaseClass, Method, ...)                                      \
  BENCHMARK_DISABLE_COUNTER_WARNING                                                                   \
  BENCHMARK_TEMPLATE_PRIVATE_INSTANTIATE_F(BaseClass, Method, BENCHMARK_PRIVATE_NAME(_), __VA_ARGS__) \
  BENCHMARK_RESTORE_COUNTER_WARNING

// ---- main ---------------------------------------------------------------------------------------------------------

#define BENCHMARK_MAIN()                                                \
  int main(int argc, char** argv) {                                     \
    ::benchmark::Initialize(&argc, argv);                               \
    if (::benchmark::ReportUnrecognizedArguments(argc, argv)) return 1; \
    ::benchmark::RunSpecifiedBenchmarks();                              \
    ::benchmark::Shutdown();                                            \
    return 0;                                                           \
  }                                                                     \
  int main(int, char**)

#endif  // BENCHMARK_REGISTRATION_H_
