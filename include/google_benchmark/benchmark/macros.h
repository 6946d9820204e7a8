// Compiler attributes under the names that suites use.
#ifndef BENCHMARK_MACROS_H_
#define BENCHMARK_MACROS_H_

#include "benchmark/export.h"

#define BENCHMARK_HAS_CXX11
#if __cplusplus >= 201703L
#define BENCHMARK_HAS_CXX17
#endif

#define BENCHMARK_DISALLOW_COPY_AND_ASSIGN(TypeName) \
  TypeName(const TypeName&) = delete;                \
  TypeName& operator=(const TypeName&) = delete

#define BENCHMARK_UNUSED __attribute__((unused))
#define BENCHMARK_ALWAYS_INLINE __attribute__((always_inline))
#define BENCHMARK_OVERRIDE override
#define BENCHMARK_NOEXCEPT noexcept
#define BENCHMARK_NOEXCEPT_OP(x) noexcept(x)
#define BENCHMARK_BUILTIN_EXPECT(x, y) __builtin_expect(x, y)
#define BENCHMARK_UNREACHABLE() __builtin_unreachable()
#define BENCHMARK_DEPRECATED_MSG(msg) __attribute__((deprecated(msg)))

#if defined(__clang__)
#define BENCHMARK_DONT_OPTIMIZE __attribute__((optnone))
#else
#define BENCHMARK_DONT_OPTIMIZE __attribute__((optimize(0)))
#define BENCHMARK_GCC_VERSION (__GNUC__ * 100 + __GNUC_MINOR__)
#endif

#define BENCHMARK_DISABLE_DEPRECATED_WARNING \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
#define BENCHMARK_RESTORE_DEPRECATED_WARNING _Pragma("GCC diagnostic pop")

#define BENCHMARK_INTERNAL_TOSTRING2(x) #x
#define BENCHMARK_INTERNAL_TOSTRING(x) BENCHMARK_INTERNAL_TOSTRING2(x)

#if defined(__powerpc64__)
#define BENCHMARK_INTERNAL_CACHELINE_SIZE 128
#else
#define BENCHMARK_INTERNAL_CACHELINE_SIZE 64
#endif
#define BENCHMARK_INTERNAL_CACHELINE_ALIGNED __attribute__((aligned(BENCHMARK_INTERNAL_CACHELINE_SIZE)))

#endif  // BENCHMARK_MACROS_H_
