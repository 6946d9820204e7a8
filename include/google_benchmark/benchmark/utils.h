// Barriers against the optimizer. The assembly constraints are those of Google Benchmark 1.9, because a different
// constraint makes the compiler place the value elsewhere and the benchmark measures different code.
#ifndef BENCHMARK_UTILS_H_
#define BENCHMARK_UTILS_H_

#include <atomic>
#include <type_traits>

#include "benchmark/macros.h"

namespace benchmark {

namespace internal {

BENCHMARK_EXPORT void UseCharPointer(char const volatile*);

#if !defined(__clang__)
// GCC puts a value into a register only if it fits one; forcing the choice "m,r" on a larger one is an error.
template <class T>
struct FitsRegister {
  static const bool value = std::is_trivially_copyable<T>::value && sizeof(T) <= sizeof(void*);
};
// Without a value: removes the overloads for T&& from a call with an lvalue.
template <class T>
struct FitsRegister<T&> {};
#endif

}  // namespace internal

inline BENCHMARK_ALWAYS_INLINE void ClobberMemory() { std::atomic_signal_fence(std::memory_order_acq_rel); }

#if defined(__clang__)

template <class T>
inline BENCHMARK_ALWAYS_INLINE void DoNotOptimize(T const& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

template <class T>
inline BENCHMARK_ALWAYS_INLINE void DoNotOptimize(T& value) {
  asm volatile("" : "+r,m"(value) : : "memory");
}

template <class T>
inline BENCHMARK_ALWAYS_INLINE void DoNotOptimize(T&& value) {
  asm volatile("" : "+r,m"(value) : : "memory");
}

#else

template <class T>
inline BENCHMARK_ALWAYS_INLINE typename std::enable_if<internal::FitsRegister<T>::value>::type DoNotOptimize(
    T const& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

template <class T>
inline BENCHMARK_ALWAYS_INLINE typename std::enable_if<!internal::FitsRegister<T>::value>::type DoNotOptimize(
    T const& value) {
  asm volatile("" : : "m"(value) : "memory");
}

template <class T>
inline BENCHMARK_ALWAYS_INLINE typename std::enable_if<internal::FitsRegister<T>::value>::type DoNotOptimize(T& value) {
  asm volatile("" : "+m,r"(value) : : "memory");
}

template <class T>
inline BENCHMARK_ALWAYS_INLINE typename std::enable_if<!internal::FitsRegister<T>::value>::type DoNotOptimize(
    T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

template <class T>
inline BENCHMARK_ALWAYS_INLINE typename std::enable_if<internal::FitsRegister<T>::value>::type DoNotOptimize(
    T&& value) {
  asm volatile("" : "+m,r"(value) : : "memory");
}

template <class T>
inline BENCHMARK_ALWAYS_INLINE typename std::enable_if<!internal::FitsRegister<T>::value>::type DoNotOptimize(
    T&& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

#endif

}  // namespace benchmark

#endif  // BENCHMARK_UTILS_H_
