/* deadheat.h: benchmarks in C99 and C++17 that deadheat races against those
 * of another build. Needs POSIX, GCC or Clang, and nothing else.
 *
 * In one file of the program, before all other includes:
 *
 *     #define DEADHEAT_IMPLEMENTATION
 *     #include <deadheat.h>
 *
 *     DEADHEAT_BENCHMARK(parse_a_number) { deadheat_keep(atoi("12345")); }
 *
 *     DEADHEAT_MAIN();
 *
 * All other files include it without that line. Then
 *
 *     deadheat bench ./old ./new
 *
 * docs/c.md is the manual, and docs/protocol.md specifies the messages in the
 * pipes. Names that end in an underscore are private.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEADHEAT_H
#define DEADHEAT_H

#define DEADHEAT_VERSION "0.1.0"

/* Clocks and counters of Linux are not part of C99 or POSIX. */
#if defined(DEADHEAT_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdint.h>

#if !defined(__GNUC__)
#error "deadheat.h needs GCC, Clang, or a compiler that knows their asm and attributes"
#endif
#if defined(__cplusplus) && __cplusplus < 201703L
#error "deadheat.h needs C++17: compile with -std=c++17 or later"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ======================================================================
 * Inputs
 * ====================================================================== */

/* Returns the next 64-bit random number of a sequence (SplitMix64). The same
 * state gives the same sequence everywhere. */
static inline uint64_t deadheat_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* Returns the i-th argument after `--` on the command line, or NULL if there are
 * fewer arguments. */
const char *deadheat_argument(size_t i);

/* Fails the benchmark with a message for the user. Setups, inputs and contenders
 * may call it from any of their threads, and should then return. */
void deadheat_fail(const char *message);

/* ======================================================================
 * Benchmarks
 * ====================================================================== */

enum { DEADHEAT_MOST_CONTENDERS = 16, DEADHEAT_MOST_PARAMETERS = 8 };

/* A function that races. It gets the input of its block. */
typedef struct deadheat_contender {
    const char *name;
    void (*call)(void *input);
} deadheat_contender;

/* A parameter that reports show: {"length", "100"}. */
typedef struct deadheat_parameter {
    const char *name;
    const char *value;
} deadheat_parameter;

/* A benchmark. Fields that are left out are zero. */
typedef struct deadheat_benchmark {
    /* Must differ from the names of all other benchmarks. */
    const char *name;
    /* The only contender: the builds race against each other. */
    void (*call)(void *input);
    /* Or several contenders, the baseline first. */
    deadheat_contender contenders[DEADHEAT_MOST_CONTENDERS];
    /* Makes the input of a block: equal inputs from equal seeds, different
     * inputs from different seeds. Without it, contenders get `context`. */
    void *(*input)(uint64_t seed);
    /* Frees an input; often `free`. */
    void (*drop_input)(void *input);
    /* Not 0: every call gets its own input, which it may use up. */
    int input_per_call;
    /* Called once per process, before everything else of this benchmark. */
    void (*setup)(void *context);
    void *context;
    /* The number of threads that call a contender at the same time; 0 means 1. */
    unsigned threads;
    /* The amount of work of one call, in bytes or in items; not both. */
    uint64_t bytes;
    uint64_t items;
    deadheat_parameter parameters[DEADHEAT_MOST_PARAMETERS];
    /* Not 0: races only with --ignored or --include-ignored. */
    int ignored;
} deadheat_benchmark;

/* Adds a benchmark, and copies everything except `context`. Call it in
 * DEADHEAT_SUITE, or before deadheat_main. */
void deadheat_register(const deadheat_benchmark *benchmark);

/* Does what DEADHEAT_MAIN does, for a program with its own `main`. Returns the
 * exit code. */
int deadheat_main(int argc, char **argv);

#define DEADHEAT_MAIN()                                                        \
    int main(int argc, char **argv)                                            \
    {                                                                          \
        return deadheat_main(argc, argv);                                      \
    }                                                                          \
    struct deadheat_semicolon_

/* Runs at the start of deadheat_main, to add benchmarks in a loop:
 *
 *     DEADHEAT_SUITE(sums) { deadheat_register(…); }
 */
#define DEADHEAT_SUITE(ID)                                                     \
    static void deadheat_suite_##ID(void);                                     \
    __attribute__((constructor)) static void deadheat_suite_of_##ID(void)      \
    {                                                                          \
        static deadheat_suite_ suite = {deadheat_suite_##ID, NULL};            \
        deadheat_add_suite_(&suite);                                           \
    }                                                                          \
    static void deadheat_suite_##ID(void)

/* A benchmark of one function, which races between builds:
 *
 *     DEADHEAT_BENCHMARK(name) { …a call… }
 *     DEADHEAT_BENCHMARK(name, .input = make, .drop_input = free) { …`input`… }
 *
 * The arguments after the name are fields of deadheat_benchmark. */
#define DEADHEAT_BENCHMARK(...)                                                \
    DEADHEAT_PICK_(DEADHEAT_BENCHMARK_WITH_, DEADHEAT_BENCHMARK_OF_,           \
                   __VA_ARGS__)                                                \
    (__VA_ARGS__)

/* A benchmark of several functions, which can also race within one program:
 *
 *     DEADHEAT_BASELINE(sum, loop, .input = make) { … }
 *     DEADHEAT_CANDIDATE(sum, unrolled) { … }
 */
#define DEADHEAT_BASELINE(BENCHMARK, ...)                                      \
    DEADHEAT_PICK_(DEADHEAT_BASELINE_WITH_, DEADHEAT_BASELINE_OF_,             \
                   __VA_ARGS__)                                                \
    (BENCHMARK, __VA_ARGS__)
#define DEADHEAT_CANDIDATE(BENCHMARK, CONTENDER)                               \
    DEADHEAT_DEFINE_(BENCHMARK##_is_##CONTENDER, #BENCHMARK, #CONTENDER, 0,    \
                     NULL)

/* ======================================================================
 * Parts of the macros
 * ====================================================================== */

/* Calls a function `iterations` times, on one input or on each of `inputs`. */
typedef void (*deadheat_calls_)(void *closure, void *input,
                                void *const *inputs, uint64_t iterations);

typedef struct deadheat_raced_ {
    char *name;
    deadheat_calls_ calls;
    void *closure;
    int is_baseline;
    const char *file;
    int line;
} deadheat_raced_;

typedef struct deadheat_entry_ {
    struct deadheat_entry_ *next;
    /* The identifier of the benchmark in the macros, or NULL. */
    const char *id;
    const char *file;
    int line;
    char *name;
    deadheat_raced_ *raced;
    size_t count;
    void *(*make)(void *closure, uint64_t seed);
    void (*drop)(void *closure, void *input);
    void *input_closure;
    void (*setup)(void *closure);
    void *setup_closure;
    void *context;
    int input_per_call;
    int ignored;
    unsigned threads;
    uint64_t bytes, items;
    char *(*parameters)[2];
    size_t parameter_count;
} deadheat_entry_;

typedef struct deadheat_suite_ {
    void (*run)(void);
    struct deadheat_suite_ *next;
} deadheat_suite_;

void deadheat_add_suite_(deadheat_suite_ *suite);
deadheat_entry_ *deadheat_new_entry_(const char *name, const char *file,
                                     int line);
void deadheat_add_raced_(deadheat_entry_ *entry, const char *name,
                         int is_baseline, deadheat_calls_ calls, void *closure,
                         const char *file, int line);
void deadheat_add_parameter_(deadheat_entry_ *entry, const char *name,
                             const char *value);
void deadheat_add_defined_(const char *benchmark, const char *contender,
                           int is_baseline, const deadheat_benchmark *options,
                           deadheat_calls_ calls, const char *file, int line);

#ifdef __cplusplus
/* Exists only if the implementation can catch exceptions. */
void deadheat_implementation_must_be_compiled_as_cpp(void);
#define DEADHEAT_CATCHES_ deadheat_implementation_must_be_compiled_as_cpp()
#else
#define DEADHEAT_CATCHES_ (void)0
#endif

/* WITH if two or more arguments follow, OF if one follows; at most 39. */
#define DEADHEAT_PICK_(WITH, OF, ...)                                          \
    DEADHEAT_LAST_(__VA_ARGS__, WITH, WITH, WITH, WITH, WITH, WITH, WITH,      \
                   WITH, WITH, WITH, WITH, WITH, WITH, WITH, WITH, WITH,       \
                   WITH, WITH, WITH, WITH, WITH, WITH, WITH, WITH, WITH,       \
                   WITH, WITH, WITH, WITH, WITH, WITH, WITH, WITH, WITH,       \
                   WITH, WITH, WITH, WITH, OF, 0)
#define DEADHEAT_LAST_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q,      \
                       r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H,      \
                       I, J, K, L, M, LAST, ...)                               \
    LAST
#define DEADHEAT_BENCHMARK_OF_(ID) DEADHEAT_DEFINE_(ID, NULL, #ID, 1, NULL)
#define DEADHEAT_BENCHMARK_WITH_(ID, ...)                                      \
    static const deadheat_benchmark deadheat_options_##ID = {__VA_ARGS__};     \
    DEADHEAT_DEFINE_(ID, NULL, #ID, 1, &deadheat_options_##ID)
#define DEADHEAT_BASELINE_OF_(BENCHMARK, CONTENDER)                            \
    DEADHEAT_DEFINE_(BENCHMARK##_is_##CONTENDER, #BENCHMARK, #CONTENDER, 1,    \
                     NULL)
#define DEADHEAT_BASELINE_WITH_(BENCHMARK, CONTENDER, ...)                     \
    static const deadheat_benchmark deadheat_options_##BENCHMARK = {           \
        __VA_ARGS__};                                                          \
    DEADHEAT_DEFINE_(BENCHMARK##_is_##CONTENDER, #BENCHMARK, #CONTENDER, 1,    \
                     &deadheat_options_##BENCHMARK)

#define DEADHEAT_DEFINE_(ID, BENCHMARK, CONTENDER, IS_BASELINE, OPTIONS)       \
    static void deadheat_calls_##ID(void *closure, void *input,                \
                                    void *const *inputs, uint64_t iterations); \
    __attribute__((constructor)) static void deadheat_define_##ID(void)        \
    {                                                                          \
        DEADHEAT_CATCHES_;                                                     \
        deadheat_add_defined_(BENCHMARK, CONTENDER, IS_BASELINE, OPTIONS,      \
                              deadheat_calls_##ID, __FILE__, __LINE__);        \
    }                                                                          \
    static inline __attribute__((always_inline)) void deadheat_inlined_##ID(   \
        void *input);                                                          \
    static void deadheat_calls_##ID(void *closure, void *input,                \
                                    void *const *inputs, uint64_t iterations)  \
    {                                                                          \
        (void)closure;                                                         \
        DEADHEAT_LOOP_(deadheat_inlined_##ID(input));                          \
    }                                                                          \
    static inline __attribute__((always_inline)) void deadheat_inlined_##ID(   \
        __attribute__((unused)) void *input)

/* The compiler does not know `input`, and must assume that memory changes between
 * calls. So it cannot remove, move or merge calls. */
#define DEADHEAT_LOOP_(CALL)                                                   \
    do {                                                                       \
        if (inputs == NULL) {                                                  \
            for (; iterations > 0; iterations--) {                             \
                __asm__ volatile("" : "+r"(input) : : "memory");               \
                CALL;                                                          \
            }                                                                  \
        } else {                                                               \
            for (; iterations > 0; iterations--) {                             \
                input = *inputs++;                                             \
                __asm__ volatile("" : "+r"(input) : : "memory");               \
                CALL;                                                          \
            }                                                                  \
        }                                                                      \
        __asm__ volatile("" : : : "memory");                                   \
    } while (0)

#ifdef __cplusplus
}
#else

/* ======================================================================
 * Values in C (the functions for C++ follow)
 * ====================================================================== */

/* Makes the compiler compute a value of any type, and the memory that it points
 * to, although the program does not use it. */
#define deadheat_keep(VALUE)                                                   \
    do {                                                                       \
        __extension__ __typeof__(((void)0, (VALUE))) deadheat_kept_ = (VALUE); \
        __asm__ volatile("" : : "m"(deadheat_kept_) : "memory");               \
    } while (0)

/* Returns the value and hides it from the compiler, which then cannot compute
 * anything from a constant in advance. */
#define deadheat_opaque(VALUE)                                                 \
    __extension__({                                                            \
        __typeof__(((void)0, (VALUE))) deadheat_hidden_ = (VALUE);             \
        __asm__ volatile("" : "+m"(deadheat_hidden_) : : "memory");            \
        deadheat_hidden_;                                                      \
    })

#endif

/* ======================================================================
 * C++
 * ====================================================================== */

#ifdef __cplusplus

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

namespace deadheat {

/// Makes the compiler compute a value, and the memory that it points to,
/// although the program does not use it.
template <class T> inline __attribute__((always_inline)) void keep(const T &value)
{
    if constexpr (std::is_scalar_v<T> && sizeof(T) <= sizeof(void *))
        __asm__ volatile("" : : "r,m"(value) : "memory");
    else
        __asm__ volatile("" : : "m"(value) : "memory");
}

/// Returns the value and hides it from the compiler, which then cannot compute
/// anything from a constant in advance.
template <class T> inline __attribute__((always_inline)) T opaque(T value)
{
    __asm__ volatile("" : "+m"(value) : : "memory");
    return value;
}

/// 64-bit random numbers for inputs, the same on every platform. A generator for
/// the standard library, for example for `std::shuffle`.
class random {
  public:
    using result_type = std::uint64_t;
    explicit random(std::uint64_t seed) : state_(seed) {}
    result_type operator()() { return deadheat_random(&state_); }
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return UINT64_MAX; }

  private:
    std::uint64_t state_;
};

namespace detail {

/// Copies a function into memory that lives until the process ends.
template <class F> void *closure_of(F &&function)
{
    return new std::decay_t<F>(std::forward<F>(function));
}

template <class F, class... Input>
inline __attribute__((always_inline)) void call(F &function, Input &...input)
{
    if constexpr (std::is_void_v<std::invoke_result_t<F &, Input &...>>)
        function(input...);
    else
        keep(function(input...));
}

/// Calls a function in a loop.
template <class F, class Input>
void calls(void *closure, void *input, void *const *inputs, std::uint64_t iterations)
{
    F &function = *static_cast<F *>(closure);
    if constexpr (std::is_void_v<Input>)
        DEADHEAT_LOOP_(call(function));
    else
        DEADHEAT_LOOP_(call(function, *static_cast<Input *>(input)));
}

/// The settings of every benchmark.
template <class Self> class described {
  public:
    /// The bytes that a call processes.
    Self &bytes(std::uint64_t count)
    {
        entry_->bytes = count;
        return self();
    }
    /// The items that a call processes.
    Self &items(std::uint64_t count)
    {
        entry_->items = count;
        return self();
    }
    /// The number of threads that call each function at the same time.
    Self &threads(unsigned count)
    {
        entry_->threads = count;
        return self();
    }
    /// A parameter that reports show: `.parameter("length", "100")`.
    Self &parameter(const std::string &name, const std::string &value)
    {
        deadheat_add_parameter_(entry_, name.c_str(), value.c_str());
        return self();
    }
    /// Races only with --ignored or --include-ignored.
    Self &ignored()
    {
        entry_->ignored = 1;
        return self();
    }
    /// Called once per process, before everything else of this benchmark.
    template <class F> Self &setup(F function)
    {
        entry_->setup_closure = closure_of(std::move(function));
        entry_->setup = [](void *closure) { (*static_cast<F *>(closure))(); };
        return self();
    }

  protected:
    explicit described(deadheat_entry_ *entry) : entry_(entry) {}
    deadheat_entry_ *entry_;

  private:
    Self &self() { return static_cast<Self &>(*this); }
};

/// A benchmark with an input, to which functions are added.
template <class Input> class [[maybe_unused]] raced : public described<raced<Input>> {
  public:
    explicit raced(deadheat_entry_ *entry) : described<raced>(entry) {}

    /// The only function: the builds race against each other.
    template <class F> raced &function(F function)
    {
        return add(this->entry_->name, 1, std::move(function));
    }
    /// The function that the candidates race against.
    template <class F> raced &baseline(const std::string &name, F function)
    {
        return add(name.c_str(), 1, std::move(function));
    }
    /// A function that races against the baseline.
    template <class F> raced &candidate(const std::string &name, F function)
    {
        return add(name.c_str(), 0, std::move(function));
    }

  private:
    template <class F> raced &add(const char *name, int is_baseline, F function)
    {
        deadheat_add_raced_(this->entry_, name, is_baseline, calls<F, Input>,
                            closure_of(std::move(function)), nullptr, 0);
        return *this;
    }
};

} // namespace detail

/// A benchmark, registered as soon as it is made. It can be made within
/// DEADHEAT_SUITE, or once as a variable outside of all functions.
///
///     deadheat::benchmark("sum")
///         .input([](std::uint64_t seed) { return numbers(seed); })
///         .baseline("loop", [](const auto &numbers) { return …; })
///         .candidate("reduce", [](const auto &numbers) { return …; });
class [[maybe_unused]] benchmark : public detail::described<benchmark> {
  public:
    explicit benchmark(const std::string &name, const char *file = __builtin_FILE(),
                       int line = __builtin_LINE())
        : described(deadheat_new_entry_(name.c_str(), file, line))
    {
        DEADHEAT_CATCHES_;
    }

    /// Makes the input of a block from its seed. The functions get a reference
    /// to the input.
    template <class F> auto input(F make)
    {
        using Input = std::decay_t<std::invoke_result_t<F &, std::uint64_t>>;
        entry_->input_closure = detail::closure_of(std::move(make));
        entry_->make = [](void *closure, std::uint64_t seed) -> void * {
            return new Input((*static_cast<F *>(closure))(seed));
        };
        entry_->drop = [](void *, void *input) { delete static_cast<Input *>(input); };
        return detail::raced<Input>(entry_);
    }
    /// Makes an input for every call, which the call may use up.
    template <class F> auto input_per_call(F make)
    {
        entry_->input_per_call = 1;
        return input(std::move(make));
    }

    /// The only function: the builds race against each other.
    template <class F> auto function(F function)
    {
        return without_input().function(std::move(function));
    }
    /// The function that the candidates race against.
    template <class F> auto baseline(const std::string &name, F function)
    {
        return without_input().baseline(name, std::move(function));
    }

  private:
    detail::raced<void> without_input() { return detail::raced<void>(entry_); }
};

} // namespace deadheat

/// The same as `deadheat::keep`, for code that compiles as C and C++.
template <class T> inline __attribute__((always_inline)) void deadheat_keep(const T &value)
{
    deadheat::keep(value);
}

/// The same as `deadheat::opaque`, for code that compiles as C and C++.
template <class T> inline __attribute__((always_inline)) T deadheat_opaque(T value)
{
    return deadheat::opaque(value);
}

#endif /* __cplusplus */

/* ======================================================================
 * The implementation, in one file of the program
 * ====================================================================== */

#ifdef DEADHEAT_IMPLEMENTATION

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/wait.h>
#ifndef RUSAGE_THREAD
#error "In the file that defines DEADHEAT_IMPLEMENTATION include deadheat.h before all else"
#endif
#endif

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#endif

#if defined(__cplusplus) && defined(__cpp_exceptions)
#define DEADHEAT_GUARDED_(STATEMENT)                                           \
    try {                                                                      \
        STATEMENT;                                                             \
    } catch (const std::exception &thrown) {                                   \
        deadheat_fail(thrown.what());                                          \
    } catch (...) {                                                            \
        deadheat_fail("threw something that is not a std::exception");         \
    }
#else
#define DEADHEAT_GUARDED_(STATEMENT) STATEMENT;
#endif

#ifdef __cplusplus
void deadheat_implementation_must_be_compiled_as_cpp(void)
{
}
#endif

enum {
    DEADHEAT_PROTOCOL_ = 2,
    /* Inputs of a sample at most, where every call has its own. */
    DEADHEAT_MOST_INPUTS_ = 4096,
    /* Calls of a sample at most. */
    DEADHEAT_MOST_CALLS_ = 1 << 30,
#ifdef __linux__
    DEADHEAT_METRICS_ = 8
#elif defined(RUSAGE_THREAD)
    DEADHEAT_METRICS_ = 7
#else
    DEADHEAT_METRICS_ = 2
#endif
};

static const char *const deadheat_metrics_[] = {
    "wall_ns",
    "cpu_ns",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "migrations",
    "run_delay_ns",
};

/* ---------------------------------------------------------------- program */

/* The state of the process. */
static struct deadheat_program_ {
    deadheat_entry_ *first, **end;
    deadheat_suite_ *first_suite, **suites_end;
    /* The arguments after `--`. */
    char **arguments;
    size_t argument_count;
    pthread_mutex_t failure_lock;
    int failed;
    char failure[1024];
} deadheat_program_ = {NULL, NULL, NULL, NULL, NULL, 0, PTHREAD_MUTEX_INITIALIZER, 0, ""};

/* Reports an error on standard error, and ends the process. */
static void __attribute__((noreturn, format(printf, 1, 2))) deadheat_refuse_(
    const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("deadheat: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(2);
}

static void *deadheat_memory_(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        deadheat_refuse_("out of memory: cannot allocate %lu bytes", (unsigned long)bytes);
    return memory;
}

static char *deadheat_copy_(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return (char *)memcpy(deadheat_memory_(NULL, bytes), text, bytes);
}

const char *deadheat_argument(size_t i)
{
    return i < deadheat_program_.argument_count ? deadheat_program_.arguments[i] : NULL;
}

void deadheat_fail(const char *message)
{
    pthread_mutex_lock(&deadheat_program_.failure_lock);
    if (!deadheat_program_.failed) {
        deadheat_program_.failed = 1;
        snprintf(deadheat_program_.failure, sizeof deadheat_program_.failure, "%s",
                 message != NULL ? message : "for no reason given");
    }
    pthread_mutex_unlock(&deadheat_program_.failure_lock);
}

/* -------------------------------------------------------------- benchmarks */

void deadheat_add_suite_(deadheat_suite_ *suite)
{
    struct deadheat_program_ *program = &deadheat_program_;
    if (program->suites_end == NULL)
        program->suites_end = &program->first_suite;
    *program->suites_end = suite;
    program->suites_end = &suite->next;
}

deadheat_entry_ *deadheat_new_entry_(const char *name, const char *file, int line)
{
    struct deadheat_program_ *program = &deadheat_program_;
    deadheat_entry_ *entry = (deadheat_entry_ *)deadheat_memory_(NULL, sizeof *entry);
    memset(entry, 0, sizeof *entry);
    entry->name = name != NULL ? deadheat_copy_(name) : NULL;
    entry->file = file;
    entry->line = line;
    if (program->end == NULL)
        program->end = &program->first;
    *program->end = entry;
    program->end = &entry->next;
    return entry;
}

void deadheat_add_raced_(deadheat_entry_ *entry, const char *name, int is_baseline,
                         deadheat_calls_ calls, void *closure, const char *file, int line)
{
    deadheat_raced_ *raced;
    entry->raced = (deadheat_raced_ *)deadheat_memory_(
        entry->raced, (entry->count + 1) * sizeof *entry->raced);
    raced = &entry->raced[entry->count++];
    raced->name = name != NULL ? deadheat_copy_(name) : NULL;
    raced->is_baseline = is_baseline;
    raced->calls = calls;
    raced->closure = closure;
    raced->file = file;
    raced->line = line;
}

void deadheat_add_parameter_(deadheat_entry_ *entry, const char *name, const char *value)
{
    entry->parameters = (char *(*)[2])deadheat_memory_(
        entry->parameters, (entry->parameter_count + 1) * sizeof *entry->parameters);
    entry->parameters[entry->parameter_count][0] = deadheat_copy_(name);
    entry->parameters[entry->parameter_count][1] =
        deadheat_copy_(value != NULL ? value : "");
    entry->parameter_count++;
}

/* The functions of C's own way to say it, behind pointers of one type. */
static void *deadheat_make_by_seed_(void *closure, uint64_t seed)
{
    return ((const deadheat_benchmark *)closure)->input(seed);
}

static void deadheat_drop_(void *closure, void *input)
{
    ((const deadheat_benchmark *)closure)->drop_input(input);
}

static void deadheat_set_up_(void *closure)
{
    const deadheat_benchmark *benchmark = (const deadheat_benchmark *)closure;
    benchmark->setup(benchmark->context);
}

static void deadheat_call_pointer_(void *closure, void *input, void *const *inputs,
                                   uint64_t iterations)
{
    void (*const call)(void *) = ((const deadheat_contender *)closure)->call;
    DEADHEAT_LOOP_(call(input));
}

/* Everything but names and contenders. */
static void deadheat_describe_(deadheat_entry_ *entry, const deadheat_benchmark *benchmark)
{
    deadheat_benchmark *copy = (deadheat_benchmark *)deadheat_memory_(NULL, sizeof *copy);
    size_t i;
    *copy = *benchmark;
    if (copy->input != NULL)
        entry->make = deadheat_make_by_seed_;
    if (copy->drop_input != NULL)
        entry->drop = deadheat_drop_;
    entry->input_closure = copy;
    if (copy->setup != NULL)
        entry->setup = deadheat_set_up_;
    entry->setup_closure = copy;
    entry->context = copy->context;
    entry->input_per_call = copy->input_per_call;
    entry->ignored = copy->ignored;
    entry->threads = copy->threads;
    entry->bytes = copy->bytes;
    entry->items = copy->items;
    for (i = 0; i < DEADHEAT_MOST_PARAMETERS && copy->parameters[i].name != NULL; i++)
        deadheat_add_parameter_(entry, copy->parameters[i].name, copy->parameters[i].value);
}

static void deadheat_add_pointer_(deadheat_entry_ *entry, const char *name, int is_baseline,
                                  void (*call)(void *input))
{
    deadheat_contender *copy = (deadheat_contender *)deadheat_memory_(NULL, sizeof *copy);
    copy->name = NULL;
    copy->call = call;
    if (call == NULL)
        deadheat_refuse_("contender '%s' of benchmark '%s' has no function: set its `call`",
                         name, entry->name);
    deadheat_add_raced_(entry, name, is_baseline, deadheat_call_pointer_, copy, NULL, 0);
}

void deadheat_register(const deadheat_benchmark *benchmark)
{
    deadheat_entry_ *entry = deadheat_new_entry_(benchmark->name, NULL, 0);
    const deadheat_contender *contender = benchmark->contenders;
    size_t i;
    if (benchmark->name == NULL)
        deadheat_refuse_("a benchmark given to deadheat_register has no name");
    deadheat_describe_(entry, benchmark);
    if (benchmark->call != NULL)
        deadheat_add_pointer_(entry, benchmark->name, 1, benchmark->call);
    for (i = 0; i < DEADHEAT_MOST_CONTENDERS && contender[i].name != NULL; i++)
        deadheat_add_pointer_(entry, contender[i].name, entry->count == 0, contender[i].call);
}

void deadheat_add_defined_(const char *benchmark, const char *contender, int is_baseline,
                           const deadheat_benchmark *options, deadheat_calls_ calls,
                           const char *file, int line)
{
    deadheat_entry_ *entry = deadheat_program_.first;
    const char *name = benchmark != NULL ? benchmark : contender;
    /* Contenders find each other by the identifier of their benchmark. */
    while (entry != NULL && (benchmark == NULL || entry->id == NULL ||
                             strcmp(entry->id, benchmark) != 0))
        entry = entry->next;
    if (entry == NULL) {
        entry = deadheat_new_entry_(name, file, line);
        entry->id = benchmark;
    }
    if (options != NULL) {
        deadheat_describe_(entry, options);
        if (options->name != NULL) {
            free(entry->name);
            entry->name = deadheat_copy_(options->name);
        }
    }
    /* The only contender of a benchmark is called as that is. */
    deadheat_add_raced_(entry, benchmark != NULL ? contender : entry->name, is_baseline, calls,
                        NULL, file, line);
}

/* The baseline first, then as in the sources: where the linker puts what runs
 * before `main` shall not number the contenders. */
static int deadheat_comes_before_(const deadheat_raced_ *a, const deadheat_raced_ *b)
{
    int files;
    if (a->is_baseline != b->is_baseline)
        return a->is_baseline;
    if (a->file == NULL || b->file == NULL)
        return 0;
    files = strcmp(a->file, b->file);
    return files != 0 ? files < 0 : a->line < b->line;
}

static void deadheat_sort_(deadheat_entry_ *entry)
{
    size_t i, place;
    for (i = 1; i < entry->count; i++) {
        deadheat_raced_ raced = entry->raced[i];
        for (place = i; place > 0 && deadheat_comes_before_(&raced, &entry->raced[place - 1]);
             place--)
            entry->raced[place] = entry->raced[place - 1];
        entry->raced[place] = raced;
    }
}

/* Bytes of the character at `text` in UTF-8; 0 when it is none. */
static size_t deadheat_utf8_(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned long code;
    size_t i, length;
    if (bytes[0] < 0x80)
        return 1;
    length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
        return 0;
    code = bytes[0] & (0xffUL >> (length + 1));
    for (i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code < 0xe000))
        return 0;
    return length;
}

static void deadheat_check_name_(const char *name)
{
    const char *at = name;
    if (*name == '\0')
        deadheat_refuse_("a benchmark, a contender or a parameter has an empty name");
    for (; *at != '\0'; at += deadheat_utf8_(at))
        if (deadheat_utf8_(at) == 0)
            deadheat_refuse_("the name that begins with '%.*s' is not UTF-8", (int)(at - name),
                             name);
}

static const char *deadheat_place_(const deadheat_entry_ *entry, char *text, size_t room)
{
    if (entry->file != NULL)
        snprintf(text, room, "%s:%d", entry->file, entry->line);
    else
        snprintf(text, room, "deadheat_register");
    return text;
}

/* Refuses what could not be raced, or not be told apart. */
static void deadheat_check_(const deadheat_entry_ *entry)
{
    const deadheat_entry_ *other;
    const char *name = entry->name;
    size_t i, k;
    deadheat_check_name_(name);
    for (other = entry->next; other != NULL; other = other->next)
        if (strcmp(other->name, name) == 0) {
            char one[256], two[256];
            deadheat_refuse_("two benchmarks are named '%s', in %s and in %s: their names must "
                             "differ",
                             name, deadheat_place_(entry, one, sizeof one),
                             deadheat_place_(other, two, sizeof two));
        }
    if (entry->count == 0)
        deadheat_refuse_("benchmark '%s' has no function to call", name);
    if (!entry->raced[0].is_baseline)
        deadheat_refuse_("benchmark '%s' has candidates but no baseline", name);
    if (entry->count > 1 && entry->raced[1].is_baseline)
        deadheat_refuse_("benchmark '%s' has more than one baseline", name);
    for (i = 0; i < entry->count; i++) {
        deadheat_check_name_(entry->raced[i].name);
        for (k = 0; k < i; k++)
            if (strcmp(entry->raced[i].name, entry->raced[k].name) == 0)
                deadheat_refuse_("two contenders of benchmark '%s' are named '%s'", name,
                                 entry->raced[i].name);
    }
    for (i = 0; i < entry->parameter_count; i++) {
        deadheat_check_name_(entry->parameters[i][0]);
        if (*entry->parameters[i][1] != '\0')
            deadheat_check_name_(entry->parameters[i][1]);
    }
    if (entry->bytes != 0 && entry->items != 0)
        deadheat_refuse_("benchmark '%s' counts bytes and items: count only one of them", name);
    if (entry->input_per_call && entry->make == NULL)
        deadheat_refuse_("benchmark '%s' has input_per_call, but no input function", name);
    if (entry->input_per_call && entry->threads > 1)
        deadheat_refuse_("benchmark '%s' has several threads, which share one input: they "
                         "cannot have an input per call",
                         name);
}

/* ------------------------------------------------------------------- gauge */

/* Everything that one sample of one thread shows. A sample whose timing pauses
 * is the sum of its parts. */
typedef struct deadheat_reading_ {
    /* Of the first and of the last part. */
    uint64_t start, stop;
    /* Between `start` and `stop`, in no part. */
    uint64_t paused_ns;
    double cpu_ns;
    /* The metrics after wall and CPU time. */
    double counts[6];
} deadheat_reading_;

static uint64_t deadheat_now_(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#ifdef __linux__
/* The last reading of the kernel's account of what this thread waited for a
 * core. It holds as long as the thread has not left its core: who runs does not
 * wait. */
static __thread struct deadheat_delay_ {
    int opened, file, failed;
    long switches;
    uint64_t ns;
} deadheat_delay_;

/* Nanoseconds that this thread has waited for a core, now that it has left one
 * so often. The file is read only if it has since the last time, which costs
 * about a microsecond. */
static uint64_t deadheat_waited_(const struct rusage *usage)
{
    struct deadheat_delay_ *last = &deadheat_delay_;
    const long switches = usage->ru_nvcsw + usage->ru_nivcsw;
    char text[96], *at = text;
    unsigned long long ran, waited;
    ssize_t length;
    if (last->opened && last->switches == switches)
        return last->ns;
    if (!last->opened)
        last->file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    last->opened = 1;
    last->switches = switches;
    length = pread(last->file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    ran = strtoull(at, &at, 10);
    waited = *at == ' ' ? strtoull(at, NULL, 10) : 0;
    /* A kernel that keeps no account writes zeros. */
    if (ran > 0 && *at == ' ' && waited >= last->ns)
        last->ns = waited;
    else
        last->failed = 1;
    return last->ns;
}

/* CPU time of this thread, and of the other threads and the children that were
 * waited for, in nanoseconds. */
typedef struct deadheat_beside_ {
    int begun;
    uint64_t own, others;
} deadheat_beside_;

static deadheat_beside_ deadheat_times_(void)
{
    deadheat_beside_ times;
    struct rusage children;
    uint64_t all;
    /* The thread first: time that passes in between counts as that of others. */
    times.begun = 1;
    times.own = deadheat_now_(CLOCK_THREAD_CPUTIME_ID);
    all = deadheat_now_(CLOCK_PROCESS_CPUTIME_ID);
    getrusage(RUSAGE_CHILDREN, &children);
    times.others = all > times.own ? all - times.own : 0;
    times.others +=
        1000000000u * (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
        1000u * (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
    return times;
}

static deadheat_beside_ deadheat_begin_beside_(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    deadheat_waited_(&usage);
    return deadheat_times_();
}

/* The reason why the time this thread waited since then must count, or none:
 * others of its process may be what it waited for. Those that sleep are not. */
static const char *deadheat_keep_waiting_(const deadheat_beside_ *since)
{
    const uint64_t slack_ns = 100000, slack_parts = 1000;
    const deadheat_beside_ now = deadheat_times_();
    const uint64_t own = now.own - since->own;
    const uint64_t others = now.others > since->others ? now.others - since->others : 0;
    siginfo_t child;
    if (others > slack_ns + own / slack_parts ||
        waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0)
        return "concurrent";
    return deadheat_delay_.failed ? "unread" : NULL;
}
#endif

/* A batch of calls. */
typedef struct deadheat_batch_ {
    const deadheat_raced_ *raced;
    void *input;
    void *const *inputs;
    uint64_t iterations;
    /* Whether callgrind counts what the calls execute. */
    int counted;
} deadheat_batch_;

/* Asks callgrind, in which the process runs, by a sequence of instructions that
 * does nothing elsewhere (valgrind.h, "client requests"). */
enum { DEADHEAT_DUMP_ = 0, DEADHEAT_FORGET_ = 1, DEADHEAT_TOGGLE_ = 2 };
static void __attribute__((noinline)) deadheat_ask_callgrind_(unsigned request)
{
    volatile uint64_t arguments[6] = {0, 0, 0, 0, 0, 0};
    arguments[0] = ((uint64_t)'C' << 24) + ((uint64_t)'T' << 16) + request;
#if defined(__x86_64__) && defined(__LP64__)
    {
        uint64_t result = 0;
        __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; "
                         "xchgq %%rbx, %%rbx"
                         : "+d"(result)
                         : "a"(arguments)
                         : "cc", "memory");
    }
#elif defined(__aarch64__)
    {
        register uint64_t result __asm__("x3") = 0;
        register volatile uint64_t *asked __asm__("x4") = arguments;
        __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; "
                         "ror x12, x12, #61; orr x10, x10, x10"
                         : "+r"(result)
                         : "r"(asked)
                         : "cc", "memory");
    }
#endif
}

/* The clocks and counters of a thread at the start of a sample or of a part of
 * one. */
typedef struct deadheat_gauge_ {
    /* The CPU clock of the thread, or that of the process. */
    clockid_t cpu_clock;
    /* Whether callgrind counts what the calls execute. */
    int counted;
    uint64_t start, cpu;
#ifdef RUSAGE_THREAD
    struct rusage usage;
    int core;
#endif
#ifdef __linux__
    uint64_t waited;
#endif
} deadheat_gauge_;

/* Reads the wall clock last, next to the calls, because the other readings must
 * not be part of the time. */
static inline __attribute__((always_inline)) void deadheat_start_(deadheat_gauge_ *gauge)
{
#ifdef RUSAGE_THREAD
    getrusage(RUSAGE_THREAD, &gauge->usage);
    gauge->core = sched_getcpu();
#ifdef __linux__
    gauge->waited = deadheat_waited_(&gauge->usage);
#endif
#endif
    gauge->cpu = deadheat_now_(gauge->cpu_clock);
    gauge->start = deadheat_now_(CLOCK_MONOTONIC);
    /* After the clock, whose reading does not always take as many instructions. */
    if (gauge->counted)
        deadheat_ask_callgrind_(DEADHEAT_TOGGLE_);
}

/* Reads the wall clock first, and adds what happened since the start to
 * `reading`, which is zero before the first part of a sample. */
static inline __attribute__((always_inline)) void deadheat_stop_(
    const deadheat_gauge_ *gauge, deadheat_reading_ *reading)
{
    uint64_t stop;
#ifdef RUSAGE_THREAD
    struct rusage usage;
#endif
    if (gauge->counted)
        deadheat_ask_callgrind_(DEADHEAT_TOGGLE_);
    stop = deadheat_now_(CLOCK_MONOTONIC);
    if (reading->stop == 0)
        reading->start = gauge->start;
    else
        reading->paused_ns += gauge->start - reading->stop;
    reading->stop = stop;
    reading->cpu_ns += (double)(deadheat_now_(gauge->cpu_clock) - gauge->cpu);
#ifdef RUSAGE_THREAD
    getrusage(RUSAGE_THREAD, &usage);
    reading->counts[0] += (double)(usage.ru_minflt - gauge->usage.ru_minflt);
    reading->counts[1] += (double)(usage.ru_majflt - gauge->usage.ru_majflt);
    reading->counts[2] += (double)(usage.ru_nvcsw - gauge->usage.ru_nvcsw);
    reading->counts[3] += (double)(usage.ru_nivcsw - gauge->usage.ru_nivcsw);
    reading->counts[4] += sched_getcpu() != gauge->core ? 1.0 : 0.0;
#ifdef __linux__
    reading->counts[5] += (double)(deadheat_waited_(&usage) - gauge->waited);
#endif
#endif
}

/* Runs a batch between two readings. */
static void deadheat_measure_(const deadheat_batch_ *batch, deadheat_reading_ *reading)
{
    deadheat_gauge_ gauge;
    memset(reading, 0, sizeof *reading);
    gauge.cpu_clock = CLOCK_THREAD_CPUTIME_ID;
    gauge.counted = batch->counted;
    deadheat_start_(&gauge);
    DEADHEAT_GUARDED_(batch->raced->calls(batch->raced->closure, batch->input, batch->inputs,
                                          batch->iterations))
    deadheat_stop_(&gauge, reading);
}

/* The metrics of a sample from the readings of its threads. `cpu_overhead_ns`
 * is what reading the CPU clock takes: left in, it would make every change look
 * smaller. */
static void deadheat_add_up_(const deadheat_reading_ *readings, unsigned threads,
                             double cpu_overhead_ns, double *values)
{
    uint64_t start = readings[0].start, stop = readings[0].stop, paused_ns = readings[0].paused_ns;
    unsigned i, k;
    for (k = 0; k < DEADHEAT_METRICS_; k++)
        values[k] = 0.0;
    for (i = 0; i < threads; i++) {
        double cpu_ns = readings[i].cpu_ns - cpu_overhead_ns;
        start = readings[i].start < start ? readings[i].start : start;
        stop = readings[i].stop > stop ? readings[i].stop : stop;
        /* Of several threads all paused at least so long. */
        paused_ns = readings[i].paused_ns < paused_ns ? readings[i].paused_ns : paused_ns;
        values[1] += cpu_ns > 0.0 ? cpu_ns : 0.0;
        for (k = 2; k < DEADHEAT_METRICS_; k++)
            values[k] += readings[i].counts[k - 2];
    }
    values[0] = (double)(stop - start - paused_ns);
}

static void deadheat_no_calls_(void *closure, void *input, void *const *inputs,
                               uint64_t iterations)
{
    (void)closure, (void)input, (void)inputs, (void)iterations;
}

/* What reading the CPU clock shows of itself, in nanoseconds: the median of
 * empty samples. */
static double deadheat_cpu_overhead_(void)
{
    enum { PAIRS = 101 };
    static const deadheat_raced_ nothing = {NULL, deadheat_no_calls_, NULL, 0, NULL, 0};
    deadheat_batch_ batch = {&nothing, NULL, NULL, 0, 0};
    double sorted[PAIRS];
    size_t i, place;
    for (i = 0; i < PAIRS; i++) {
        deadheat_reading_ reading;
        deadheat_measure_(&batch, &reading);
        for (place = i; place > 0 && sorted[place - 1] > reading.cpu_ns; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = reading.cpu_ns;
    }
    return sorted[PAIRS / 2];
}

/* -------------------------------------------------------------------- crew */

/* Threads that are started once and wait for batches. */
typedef struct deadheat_crew_ {
    pthread_mutex_t lock;
    pthread_cond_t todo, done;
    unsigned threads, busy, arrived;
    uint64_t round;
    const deadheat_batch_ *batch;
    deadheat_reading_ *readings;
} deadheat_crew_;

typedef struct deadheat_hand_ {
    deadheat_crew_ *crew;
    unsigned number;
} deadheat_hand_;

/* Lets all threads go when the last has arrived. Where there are fewer cores
 * than threads that one may need this core. */
static void deadheat_line_up_(deadheat_crew_ *crew)
{
    unsigned spins = 0;
    __atomic_add_fetch(&crew->arrived, 1u, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&crew->arrived, __ATOMIC_SEQ_CST) < crew->threads)
        if (++spins > 1000)
            sched_yield();
}

static void *deadheat_work_(void *argument)
{
    deadheat_hand_ *hand = (deadheat_hand_ *)argument;
    deadheat_crew_ *crew = hand->crew;
    uint64_t round = 0;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->round == round)
            pthread_cond_wait(&crew->todo, &crew->lock);
        round = crew->round;
        pthread_mutex_unlock(&crew->lock);
        deadheat_line_up_(crew);
        deadheat_measure_(crew->batch, &crew->readings[hand->number]);
        pthread_mutex_lock(&crew->lock);
        if (--crew->busy == 0)
            pthread_cond_signal(&crew->done);
    }
    return NULL;
}

static deadheat_crew_ *deadheat_hire_(unsigned threads)
{
    deadheat_crew_ *crew = (deadheat_crew_ *)deadheat_memory_(NULL, sizeof *crew);
    unsigned number;
    memset(crew, 0, sizeof *crew);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->todo, NULL);
    pthread_cond_init(&crew->done, NULL);
    crew->threads = threads;
    crew->readings =
        (deadheat_reading_ *)deadheat_memory_(NULL, threads * sizeof *crew->readings);
    memset(crew->readings, 0, threads * sizeof *crew->readings);
    for (number = 0; number < threads; number++) {
        pthread_t thread;
        deadheat_hand_ *hand = (deadheat_hand_ *)deadheat_memory_(NULL, sizeof *hand);
        hand->crew = crew;
        hand->number = number;
        if (pthread_create(&thread, NULL, deadheat_work_, hand) != 0)
            deadheat_refuse_("thread %u of %u could not be started", number + 1, threads);
        pthread_detach(thread);
    }
    return crew;
}

static void deadheat_measure_together_(deadheat_crew_ *crew, const deadheat_batch_ *batch)
{
    pthread_mutex_lock(&crew->lock);
    crew->batch = batch;
    crew->busy = crew->threads;
    crew->arrived = 0;
    crew->round++;
    pthread_cond_broadcast(&crew->todo);
    while (crew->busy > 0)
        pthread_cond_wait(&crew->done, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

/* -------------------------------------------------------------------- race */

/* A benchmark that is being raced. */
typedef struct deadheat_race_ {
    deadheat_entry_ *entry;
    /* The contenders that take part. */
    const deadheat_raced_ *raced;
    size_t count;
    uint64_t seed;
    void *input;
    int has_input;
    /* Whether a warm-up has left its input for a block of this seed. */
    int ready;
    deadheat_crew_ *crew;
    void **inputs;
    double cpu_overhead_ns;
    /* Whether callgrind counts what samples execute. */
    int counted;
#ifdef __linux__
    /* Since the first block. */
    deadheat_beside_ beside;
#endif
    /* Who is being called, or -1. */
    long calling;
    /* Where to note that, or -1. */
    int notes;
} deadheat_race_;

static void deadheat_note_(deadheat_race_ *race, long contender)
{
    unsigned char who = contender >= 0 && contender < 255 ? (unsigned char)(contender + 1) : 0;
    race->calling = contender;
    /* A note that does not fit, or that nobody reads, is lost. */
    if (race->notes >= 0 && write(race->notes, &who, 1) < 0)
        return;
}

static void deadheat_drop_input_(deadheat_race_ *race, void *input)
{
    if (race->entry->drop != NULL)
        DEADHEAT_GUARDED_(race->entry->drop(race->entry->input_closure, input))
}

static void *deadheat_make_input_(deadheat_race_ *race)
{
    void *input = NULL;
    DEADHEAT_GUARDED_(input = race->entry->make(race->entry->input_closure, race->seed))
    return input;
}

/* Gets the input of this seed ready. 0 when that failed, as below. */
static int deadheat_renew_(deadheat_race_ *race, uint64_t seed)
{
    deadheat_note_(race, -1);
    if (race->has_input)
        deadheat_drop_input_(race, race->input);
    race->has_input = 0;
    race->ready = 0;
    race->seed = seed;
    race->input = race->entry->context;
    if (race->entry->make != NULL && !race->entry->input_per_call) {
        race->input = deadheat_make_input_(race);
        race->has_input = !deadheat_program_.failed;
    }
    return !deadheat_program_.failed;
}

/* Takes one sample, with an input for every call where that is wanted. */
static int deadheat_sample_(deadheat_race_ *race, size_t contender, uint64_t iterations,
                            double *values)
{
    deadheat_batch_ batch = {&race->raced[contender], race->input, NULL, iterations,
                             race->counted};
    deadheat_reading_ alone, *readings = &alone;
    uint64_t made = 0;
    if (race->entry->input_per_call) {
        if (iterations > DEADHEAT_MOST_INPUTS_) {
            deadheat_fail("a sample has more calls than the most inputs allowed");
            return 0;
        }
        while (made < iterations && !deadheat_program_.failed)
            race->inputs[made++] = deadheat_make_input_(race);
        batch.inputs = race->inputs;
        /* One that was not made is not dropped either. */
        made -= deadheat_program_.failed && made > 0 ? 1 : 0;
    }
    memset(&alone, 0, sizeof alone);
    deadheat_note_(race, (long)contender);
    if (deadheat_program_.failed) {
        deadheat_note_(race, -1);
    } else if (race->crew != NULL) {
        deadheat_measure_together_(race->crew, &batch);
        readings = race->crew->readings;
    } else {
        deadheat_measure_(&batch, &alone);
    }
    while (made > 0)
        deadheat_drop_input_(race, race->inputs[--made]);
    deadheat_add_up_(readings, race->crew != NULL ? race->crew->threads : 1,
                     race->cpu_overhead_ns, values);
    return !deadheat_program_.failed;
}

/* Makes all of a benchmark ready that is made once in a process. */
static int deadheat_enter_(deadheat_race_ *race, deadheat_entry_ *entry)
{
    memset(race, 0, sizeof *race);
    race->entry = entry;
    race->raced = entry->raced;
    race->count = entry->count;
    race->calling = -1;
    race->notes = -1;
    if (entry->input_per_call)
        race->inputs = (void **)deadheat_memory_(NULL, DEADHEAT_MOST_INPUTS_ * sizeof(void *));
    if (entry->threads > 1)
        race->crew = deadheat_hire_(entry->threads);
    if (entry->setup != NULL)
        DEADHEAT_GUARDED_(entry->setup(entry->setup_closure))
    return !deadheat_program_.failed;
}

static int deadheat_call_everyone_once_(deadheat_race_ *race, uint64_t seed)
{
    double values[DEADHEAT_METRICS_];
    size_t i;
    int sound = deadheat_renew_(race, seed);
    for (i = 0; sound && i < race->count; i++)
        sound = deadheat_sample_(race, i, 1, values);
    return sound;
}

/* ------------------------------------------------------------------- pilot */

/* Beyond this, in nanoseconds, one sample shows what a call takes. */
static const double deadheat_slow_ns_ = 5e6;

/* Finds the nanoseconds of one call: from samples that last long enough, the
 * shortest of three. */
typedef struct deadheat_trial_ {
    double least_ns;
    uint64_t most;
    /* Whether a slow call is called twice, to find `was_warm`. */
    int compares_first;
    /* Calls of the sample that comes next; 0 when all is known. */
    uint64_t iterations;
    int samples, tries;
    double first_ns, shortest_ns, call_ns;
    /* Whether the first call was about as fast as the second. */
    int was_warm;
} deadheat_trial_;

static deadheat_trial_ deadheat_begin_trial_(double least_ns, uint64_t most)
{
    deadheat_trial_ trial;
    memset(&trial, 0, sizeof trial);
    trial.least_ns = least_ns;
    trial.most = most;
    trial.iterations = 1;
    return trial;
}

/* Ends the trial with a sample of this length, or chooses the next one. */
static void deadheat_took_(deadheat_trial_ *trial, double wall_ns)
{
    const int is_first = trial->samples++ == 0;
    double factor;
    if (is_first)
        trial->first_ns = wall_ns;
    /* The first call finds everything cold, and shows nothing else. */
    if (is_first && (wall_ns < deadheat_slow_ns_ || trial->compares_first))
        return;
    if (trial->samples == 2 && trial->iterations == 1)
        trial->was_warm = wall_ns >= 0.99 * trial->first_ns;
    if (wall_ns < trial->least_ns && trial->iterations < trial->most && trial->tries == 0) {
        factor = 1.25 * trial->least_ns / (wall_ns > 1.0 ? wall_ns : 1.0);
        factor = factor < 2.0 ? 2.0 : factor > 16.0 ? 16.0 : factor;
        trial->iterations = (uint64_t)((double)trial->iterations * factor);
        trial->iterations = trial->iterations < trial->most ? trial->iterations : trial->most;
        return;
    }
    if (trial->tries++ == 0 || wall_ns < trial->shortest_ns)
        trial->shortest_ns = wall_ns;
    if (trial->tries < 3 && wall_ns < deadheat_slow_ns_)
        return;
    trial->call_ns = trial->shortest_ns / (double)trial->iterations;
    trial->iterations = 0;
}

/* Calls that take `least_ns`. */
static uint64_t deadheat_iterations_(double call_ns, double least_ns, uint64_t most)
{
    /* A call that seems to take no time wants infinitely many. */
    double wanted = call_ns > 0.0 ? least_ns / call_ns : (double)most;
    if (wanted >= (double)most)
        return most;
    return wanted > 1.0 ? (uint64_t)wanted + ((double)(uint64_t)wanted < wanted) : 1;
}

/* Nanoseconds of one call. Negative when a call failed. */
static double deadheat_call_ns_(deadheat_race_ *race, size_t contender, double least_ns,
                                uint64_t most)
{
    deadheat_trial_ trial = deadheat_begin_trial_(least_ns, most);
    double values[DEADHEAT_METRICS_];
    while (trial.iterations > 0) {
        if (!deadheat_sample_(race, contender, trial.iterations, values))
            return -1.0;
        deadheat_took_(&trial, values[0]);
    }
    return trial.call_ns;
}

/* Finds the calls of a sample in which the fastest contender takes `least_ns`.
 * 0 when a call failed. */
static uint64_t deadheat_calibrate_(deadheat_race_ *race, uint64_t seed, double least_ns,
                                    double *call_ns)
{
    const uint64_t most =
        (uint64_t)(race->entry->input_per_call ? DEADHEAT_MOST_INPUTS_ : DEADHEAT_MOST_CALLS_);
    double fastest = 0.0;
    size_t i;
    if (!deadheat_renew_(race, seed))
        return 0;
    for (i = 0; i < race->count; i++) {
        call_ns[i] = deadheat_call_ns_(race, i, least_ns, most);
        if (call_ns[i] < 0.0)
            return 0;
        if (i == 0 || call_ns[i] < fastest)
            fastest = call_ns[i];
    }
    return deadheat_iterations_(fastest, least_ns, most);
}

/* The rounds of a warm-up, which ends when two in a row are no faster. */
typedef struct deadheat_rounds_ {
    double best_ns;
    uint64_t count;
    int idle;
} deadheat_rounds_;

/* Counts a round that took so long; whether another one follows. */
static int deadheat_goes_on_(deadheat_rounds_ *rounds, double took_ns)
{
    enum { MOST_ROUNDS = 50, IDLE_ROUNDS = 2 };
    const double gain = 0.01, slow_ns = 1e7;
    const int is_first = rounds->count++ == 0;
    rounds->idle = is_first || took_ns < rounds->best_ns * (1.0 - gain) ? 0 : rounds->idle + 1;
    rounds->best_ns = is_first || took_ns < rounds->best_ns ? took_ns : rounds->best_ns;
    return took_ns <= slow_ns && rounds->idle < IDLE_ROUNDS && rounds->count < MOST_ROUNDS;
}

/* Calls the contenders in this order, round by round with new inputs. Returns
 * the number of rounds, 0 when one failed. The input of a single round is left
 * ready for a block. */
static uint64_t deadheat_warm_up_(deadheat_race_ *race, uint64_t seed, const long *order,
                                  size_t length, uint64_t iterations)
{
    deadheat_rounds_ rounds = {0.0, 0, 0};
    double took_ns;
    do {
        double values[DEADHEAT_METRICS_];
        size_t i;
        took_ns = 0.0;
        if (!deadheat_renew_(race, rounds.count == 0 ? seed : deadheat_random(&seed)))
            return 0;
        for (i = 0; i < length; i++) {
            if (!deadheat_sample_(race, (size_t)order[i], iterations, values))
                return 0;
            took_ns += values[0];
        }
    } while (deadheat_goes_on_(&rounds, took_ns));
    race->ready = rounds.count == 1;
    return rounds.count;
}

/* ----------------------------------------------------------- text as it grows */

typedef struct deadheat_text_ {
    char *bytes;
    size_t length, room;
} deadheat_text_;

static void deadheat_put_(deadheat_text_ *text, const char *bytes, size_t length)
{
    if (text->length + length + 1 > text->room) {
        text->room = 2 * (text->length + length) + 256;
        text->bytes = (char *)deadheat_memory_(text->bytes, text->room);
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void deadheat_say_(deadheat_text_ *text, const char *words)
{
    deadheat_put_(text, words, strlen(words));
}

/* A string of JSON. What is not UTF-8 becomes question marks. */
static void deadheat_quote_(deadheat_text_ *text, const char *words)
{
    deadheat_say_(text, "\"");
    while (*words != '\0') {
        size_t length = deadheat_utf8_(words);
        char escape[8];
        if (length == 0) {
            deadheat_say_(text, "?");
            words++;
        } else if ((unsigned char)*words < 0x20 || *words == '"' || *words == '\\') {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)*words++);
            deadheat_say_(text, escape);
        } else {
            deadheat_put_(text, words, length);
            words += length;
        }
    }
    deadheat_say_(text, "\"");
}

/* A number that reads back as the same one, whatever the locale's comma is. */
static void deadheat_number_(deadheat_text_ *text, double number)
{
    char digits[40], *at;
    snprintf(digits, sizeof digits, "%.17g", number);
    for (at = digits; *at != '\0'; at++) {
        size_t foreign = strcspn(at, "0123456789+-e");
        if (foreign > 0) {
            *at = '.';
            memmove(at + 1, at + foreign, strlen(at + foreign) + 1);
        }
    }
    deadheat_say_(text, digits);
}

static void deadheat_count_(deadheat_text_ *text, uint64_t count)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", __extension__(unsigned long long) count);
    deadheat_say_(text, digits);
}

/* ---------------------------------------------------------------- requests */

typedef struct deadheat_request_ {
    char *kind, *benchmark, *contender;
    uint64_t seed, iterations, unrecorded, unrecorded_iterations;
    uint64_t heap_bytes, stack_bytes;
    double least_ns, cpu_overhead_ns;
    int callgrind, input_per_call;
    /* Contenders by number; -1 is somebody in the other process. */
    long *turns;
    size_t turn_count, turn_room;
} deadheat_request_;

/* Passes `sign`, and white space before it. */
static int deadheat_passes_(const char **at, char sign)
{
    *at += strspn(*at, " \t\r\n");
    if (**at != sign)
        return 0;
    ++*at;
    return 1;
}

static int deadheat_passes_word_(const char **at, const char *word)
{
    *at += strspn(*at, " \t\r\n");
    if (strncmp(*at, word, strlen(word)) != 0)
        return 0;
    *at += strlen(word);
    return 1;
}

static int deadheat_hex_(const char **at, unsigned long *code)
{
    int i;
    *code = 0;
    for (i = 0; i < 4; i++, ++*at) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = **at != '\0' ? strchr(digits, **at) : NULL;
        if (digit == NULL)
            return 0;
        *code = *code << 4 | (unsigned long)((digit - digits) % 16);
    }
    return 1;
}

/* What follows a backslash and a `u`: one half of a pair or all. */
static int deadheat_read_escape_(const char **at, deadheat_text_ *text)
{
    unsigned long code, low;
    char bytes[4];
    size_t length, i;
    if (!deadheat_hex_(at, &code))
        return 0;
    if (code >= 0xd800 && code < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        *at += 2;
        if (!deadheat_hex_(at, &low) || low < 0xdc00 || low > 0xdfff)
            return 0;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code < 0x80) {
        bytes[0] = (char)code;
        deadheat_put_(text, bytes, 1);
        return 1;
    }
    length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)((0xf0UL << (4 - length) & 0xff) | code);
    deadheat_put_(text, bytes, length);
    return 1;
}

/* A string, without its quotes and escapes; NULL when it is none. */
static char *deadheat_read_string_(const char **at)
{
    deadheat_text_ text = {NULL, 0, 0};
    int sound = deadheat_passes_(at, '"');
    deadheat_put_(&text, "", 0);
    while (sound && **at != '"') {
        size_t plain = strcspn(*at, "\"\\");
        deadheat_put_(&text, *at, plain);
        *at += plain;
        if (**at == '\\') {
            static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
            char which = (*at)[1];
            const char *escape = which != '\0' ? strchr(escapes, which) : NULL;
            *at += which != '\0' ? 2 : 1;
            if (which == 'u')
                sound = deadheat_read_escape_(at, &text);
            else if (escape != NULL)
                deadheat_put_(&text, &meanings[escape - escapes], 1);
            else
                sound = 0;
        } else if (**at == '\0') {
            sound = 0;
        }
    }
    if (sound && deadheat_passes_(at, '"'))
        return text.bytes;
    free(text.bytes);
    return NULL;
}

/* A number, for which the locale of the program does not matter. */
static int deadheat_read_number_(const char **at, double *number)
{
    double sign = 1.0, value = 0.0;
    long scale = 0, exponent = 0, up = 1;
    const char *start;
    if (deadheat_passes_(at, '-'))
        sign = -1.0;
    for (start = *at; **at >= '0' && **at <= '9'; ++*at)
        value = value * 10.0 + (**at - '0');
    if (*at == start)
        return 0;
    if (**at == '.')
        for (++*at; **at >= '0' && **at <= '9'; ++*at, scale--)
            value = value * 10.0 + (**at - '0');
    if (**at == 'e' || **at == 'E') {
        ++*at;
        if (**at == '-' || **at == '+')
            up = *(*at)++ == '-' ? -1 : 1;
        for (; **at >= '0' && **at <= '9'; ++*at)
            exponent = exponent < 1000 ? exponent * 10 + (**at - '0') : exponent;
    }
    for (scale += up * exponent; scale > 0 && value < 1e300; scale--)
        value *= 10.0;
    for (exponent = -scale, sign *= value, value = 1.0; exponent > 0 && value < 1e300; exponent--)
        value *= 10.0;
    *number = sign / value;
    return 1;
}

/* A number that counts something: exact below 2^53, as all of the protocol. */
static int deadheat_read_count_(const char **at, uint64_t *count)
{
    double number;
    if (!deadheat_read_number_(at, &number) || number < 0.0 || number >= 18446744073709549568.0)
        return 0;
    *count = (uint64_t)number;
    return 1;
}

static int deadheat_skip_(const char **at, int depth)
{
    double number;
    char *string, end;
    if (depth > 64)
        return 0;
    *at += strspn(*at, " \t\r\n");
    if (**at == '"') {
        string = deadheat_read_string_(at);
        free(string);
        return string != NULL;
    }
    if (**at != '{' && **at != '[')
        return deadheat_passes_word_(at, "true") || deadheat_passes_word_(at, "false") ||
               deadheat_passes_word_(at, "null") || deadheat_read_number_(at, &number);
    end = *(*at)++ == '{' ? '}' : ']';
    if (deadheat_passes_(at, end))
        return 1;
    do {
        if (end == '}') {
            string = deadheat_read_string_(at);
            free(string);
            if (string == NULL || !deadheat_passes_(at, ':'))
                return 0;
        }
        if (!deadheat_skip_(at, depth + 1))
            return 0;
    } while (deadheat_passes_(at, ','));
    return deadheat_passes_(at, end);
}

static int deadheat_read_turns_(const char **at, deadheat_request_ *request)
{
    request->turn_count = 0;
    if (!deadheat_passes_(at, '['))
        return 0;
    if (deadheat_passes_(at, ']'))
        return 1;
    do {
        uint64_t turn = 0;
        int other = deadheat_passes_word_(at, "null");
        if (!other && (!deadheat_read_count_(at, &turn) || turn > 1000000))
            return 0;
        if (request->turn_count == request->turn_room) {
            request->turn_room = 2 * request->turn_room + 16;
            request->turns = (long *)deadheat_memory_(
                request->turns, request->turn_room * sizeof *request->turns);
        }
        request->turns[request->turn_count++] = other ? -1 : (long)turn;
    } while (deadheat_passes_(at, ','));
    return deadheat_passes_(at, ']');
}

static int deadheat_read_field_(const char **at, const char *key, deadheat_request_ *request)
{
    if (deadheat_passes_word_(at, "null"))
        return 1;
    if (strcmp(key, "benchmark") == 0)
        return (request->benchmark = deadheat_read_string_(at)) != NULL;
    if (strcmp(key, "contender") == 0)
        return (request->contender = deadheat_read_string_(at)) != NULL;
    if (strcmp(key, "cpu_overhead_ns") == 0)
        return deadheat_read_number_(at, &request->cpu_overhead_ns);
    if (strcmp(key, "least_ns") == 0)
        return deadheat_read_number_(at, &request->least_ns);
    if (strcmp(key, "seed") == 0)
        return deadheat_read_count_(at, &request->seed);
    if (strcmp(key, "iterations") == 0)
        return deadheat_read_count_(at, &request->iterations);
    if (strcmp(key, "unrecorded") == 0)
        return deadheat_read_count_(at, &request->unrecorded);
    if (strcmp(key, "unrecorded_iterations") == 0)
        return deadheat_read_count_(at, &request->unrecorded_iterations);
    if (strcmp(key, "heap_bytes") == 0)
        return deadheat_read_count_(at, &request->heap_bytes);
    if (strcmp(key, "stack_bytes") == 0)
        return deadheat_read_count_(at, &request->stack_bytes);
    if (strcmp(key, "callgrind") == 0)
        return (request->callgrind = deadheat_passes_word_(at, "true")) ||
               deadheat_passes_word_(at, "false");
    if (strcmp(key, "input_per_call") == 0)
        return (request->input_per_call = deadheat_passes_word_(at, "true")) ||
               deadheat_passes_word_(at, "false");
    if (strcmp(key, "turns") == 0 || strcmp(key, "order") == 0)
        return deadheat_read_turns_(at, request);
    return deadheat_skip_(at, 0);
}

/* {"kind":{"key":value,…}}, of which unknown keys are passed over. */
static int deadheat_read_request_(const char *line, deadheat_request_ *request)
{
    const char **at = &line;
    free(request->kind);
    free(request->benchmark);
    free(request->contender);
    request->kind = request->benchmark = request->contender = NULL;
    request->seed = request->unrecorded = request->heap_bytes = request->stack_bytes = 0;
    request->iterations = request->unrecorded_iterations = 1;
    request->least_ns = 5000.0;
    request->cpu_overhead_ns = -1.0;
    request->callgrind = request->input_per_call = 0;
    request->turn_count = 0;
    if (!deadheat_passes_(at, '{') || (request->kind = deadheat_read_string_(at)) == NULL ||
        !deadheat_passes_(at, ':') || !deadheat_passes_(at, '{'))
        return 0;
    if (!deadheat_passes_(at, '}')) {
        do {
            char *key = deadheat_read_string_(at);
            int sound = key != NULL && deadheat_passes_(at, ':') &&
                        deadheat_read_field_(at, key, request);
            free(key);
            if (!sound)
                return 0;
        } while (deadheat_passes_(at, ','));
        if (!deadheat_passes_(at, '}'))
            return 0;
    }
    return deadheat_passes_(at, '}');
}

/* ------------------------------------------------------------------ worker */

typedef struct deadheat_worker_ {
    int requests, replies, notes;
    /* -1 without a race against another process. */
    int baton_in, baton_out;
    /* What was read and not yet understood; the reply as it grows. */
    deadheat_text_ heard, said;
    size_t used;
    deadheat_request_ request;
    deadheat_race_ race;
    int exit_code;
} deadheat_worker_;

static int deadheat_send_(deadheat_worker_ *worker)
{
    const char *at = worker->said.bytes;
    size_t left;
    deadheat_say_(&worker->said, "\n");
    at = worker->said.bytes;
    left = worker->said.length;
    worker->said.length = 0;
    while (left > 0) {
        ssize_t written = write(worker->replies, at, left);
        if (written < 0 && errno != EINTR)
            return 0;
        if (written > 0) {
            at += written;
            left -= (size_t)written;
        }
    }
    return 1;
}

/* The next request; 0 when there is none. */
static int deadheat_hear_(deadheat_worker_ *worker)
{
    deadheat_text_ *heard = &worker->heard;
    char *line, *end, more[4096];
    /* Away with the line before. */
    heard->length -= worker->used;
    if (worker->used > 0)
        memmove(heard->bytes, heard->bytes + worker->used, heard->length);
    while ((end = (char *)memchr(heard->bytes, '\n', heard->length)) == NULL) {
        ssize_t got = read(worker->requests, more, sizeof more);
        if (got == 0 || (got < 0 && errno != EINTR))
            return 0;
        if (got > 0)
            deadheat_put_(heard, more, (size_t)got);
    }
    *end = '\0';
    line = heard->bytes;
    worker->used = (size_t)(end - line) + 1;
    if (deadheat_read_request_(line, &worker->request))
        return 1;
    fprintf(stderr, "deadheat: this worker speaks protocol %d and cannot read the request %s\n",
            DEADHEAT_PROTOCOL_, line);
    worker->exit_code = 2;
    return 0;
}

#ifdef __clang__
#define DEADHEAT_COMPILER_ "clang " __clang_version__
#else
#define DEADHEAT_COMPILER_ "gcc " __VERSION__
#endif

/* `more` is NULL, or the name of a metric after those of all workers. */
static void deadheat_hello_(deadheat_text_ *said, const char *name, const char *more)
{
    size_t i;
    deadheat_say_(said, "{\"hello\":{\"protocol\":");
    deadheat_count_(said, DEADHEAT_PROTOCOL_);
    deadheat_say_(said, ",\"worker\":");
    deadheat_quote_(said, name);
    deadheat_say_(said, ",\"metrics\":[");
    for (i = 0; i < DEADHEAT_METRICS_; i++) {
        deadheat_say_(said, i > 0 ? "," : "");
        deadheat_quote_(said, deadheat_metrics_[i]);
    }
    if (more != NULL) {
        deadheat_say_(said, ",");
        deadheat_quote_(said, more);
    }
    deadheat_say_(said, "]}}");
}

static void deadheat_list_entry_(deadheat_text_ *said, const deadheat_entry_ *entry)
{
    size_t i;
    deadheat_say_(said, "{\"name\":");
    deadheat_quote_(said, entry->name);
    deadheat_say_(said, ",\"contenders\":[");
    for (i = 0; i < entry->count; i++) {
        deadheat_say_(said, i > 0 ? "," : "");
        deadheat_quote_(said, entry->raced[i].name);
    }
    deadheat_say_(said, "],\"parameters\":[");
    for (i = 0; i < entry->parameter_count; i++) {
        deadheat_say_(said, i > 0 ? ",[" : "[");
        deadheat_quote_(said, entry->parameters[i][0]);
        deadheat_say_(said, ",");
        deadheat_quote_(said, entry->parameters[i][1]);
        deadheat_say_(said, "]");
    }
    deadheat_say_(said, "]");
    if (entry->bytes > 0 || entry->items > 0) {
        deadheat_say_(said, ",\"throughput\":{\"");
        deadheat_say_(said, entry->bytes > 0 ? "bytes\":" : "items\":");
        deadheat_count_(said, entry->bytes > 0 ? entry->bytes : entry->items);
        deadheat_say_(said, "}");
    }
    deadheat_say_(said, ",\"threads\":");
    deadheat_count_(said, entry->threads > 1 ? entry->threads : 1);
    deadheat_say_(said, ",\"ignored\":");
    deadheat_say_(said, entry->ignored ? "true}" : "false}");
}

static void deadheat_list_(deadheat_text_ *said)
{
    const deadheat_entry_ *entry = deadheat_program_.first;
    deadheat_say_(said, "{\"listed\":{\"benchmarks\":[");
    for (; entry != NULL; entry = entry->next) {
        deadheat_list_entry_(said, entry);
        deadheat_say_(said, entry->next != NULL ? "," : "");
    }
    deadheat_say_(said, "]}}");
}

/* Replies that it cannot go on, for a reason that needs no words. */
static void deadheat_give_up_(deadheat_worker_ *worker, const char *problem)
{
    deadheat_text_ *said = &worker->said;
    said->length = 0;
    deadheat_say_(said, "{\"failed\":{\"contender\":null,\"problem\":{\"");
    deadheat_say_(said, problem);
    deadheat_say_(said, "\":{}}}}");
    deadheat_send_(worker);
}

/* Replies with a problem that needs words: "panicked", "skipped" or "refused". */
static void deadheat_give_up_with_(deadheat_worker_ *worker, const char *problem,
                                   const char *message)
{
    deadheat_text_ *said = &worker->said;
    said->length = 0;
    deadheat_say_(said, "{\"failed\":{\"contender\":");
    if (worker->race.calling >= 0)
        deadheat_count_(said, (uint64_t)worker->race.calling);
    else
        deadheat_say_(said, "null");
    deadheat_say_(said, ",\"problem\":{\"");
    deadheat_say_(said, problem);
    deadheat_say_(said, "\":");
    deadheat_quote_(said, message);
    deadheat_say_(said, "}}}");
    deadheat_send_(worker);
}

/* Replies with the message of deadheat_fail. */
static void deadheat_give_up_failed_(deadheat_worker_ *worker)
{
    deadheat_give_up_with_(worker, "panicked", deadheat_program_.failure);
}

/* Waits for the baton. The other process is asleep once this one has let it
 * run up to where it waits itself. */
static int deadheat_take_baton_(deadheat_worker_ *worker)
{
    char byte;
    ssize_t got;
    do
        got = read(worker->baton_in, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1)
        sched_yield();
    return got == 1;
}

static int deadheat_hand_over_(deadheat_worker_ *worker)
{
    char byte = 1;
    ssize_t written;
    do
        written = write(worker->baton_out, &byte, 1);
    while (written < 0 && errno == EINTR);
    return written == 1;
}

/* Whether the turn `i` of the requested block is one of this process; there are
 * none before the first and after the last. */
static int deadheat_is_own_turn_(const deadheat_worker_ *worker, size_t i)
{
    return i < worker->request.turn_count && worker->request.turns[i] >= 0;
}

static int deadheat_takes_turns_(const deadheat_worker_ *worker)
{
    return worker->baton_in >= 0 && worker->request.turn_count > 0;
}

/* Called when the input of a block is ready: lets the other process begin if
 * the first turn is its own. 0 when it is gone, as below. */
static int deadheat_begin_turns_(deadheat_worker_ *worker)
{
#ifdef __linux__
    if (!worker->race.beside.begun)
        worker->race.beside = deadheat_begin_beside_();
#endif
    if (worker->race.counted)
        deadheat_ask_callgrind_(DEADHEAT_FORGET_);
    return !deadheat_takes_turns_(worker) || deadheat_is_own_turn_(worker, 0) ||
           deadheat_hand_over_(worker);
}

static int deadheat_begin_turn_(deadheat_worker_ *worker, size_t i)
{
    return !deadheat_takes_turns_(worker) || (i > 0 && deadheat_is_own_turn_(worker, i - 1)) ||
           deadheat_take_baton_(worker);
}

static int deadheat_end_turn_(deadheat_worker_ *worker, size_t i)
{
    if (worker->race.counted)
        deadheat_ask_callgrind_(DEADHEAT_DUMP_);
    if (!deadheat_takes_turns_(worker) || deadheat_is_own_turn_(worker, i + 1))
        return 1;
    deadheat_note_(&worker->race, -1);
    return deadheat_hand_over_(worker);
}

/* Waits for the other process to take its turns that end the block. */
static int deadheat_end_turns_(deadheat_worker_ *worker)
{
    deadheat_note_(&worker->race, -1);
    return !deadheat_takes_turns_(worker) ||
           deadheat_is_own_turn_(worker, worker->request.turn_count - 1) ||
           deadheat_take_baton_(worker);
}

/* Runs a block: 1 when it is done, 0 when a call failed, -1 when the other
 * process is gone. */
static int deadheat_block_(deadheat_worker_ *worker, double *values)
{
    const deadheat_request_ *request = &worker->request;
    double unrecorded[DEADHEAT_METRICS_];
    size_t i;
    if (!(worker->race.ready && worker->race.seed == request->seed) &&
        !deadheat_renew_(&worker->race, request->seed))
        return 0;
    worker->race.ready = 0;
    if (!deadheat_begin_turns_(worker))
        return -1;
    for (i = 0; i < request->turn_count; i++) {
        const int recorded = i >= request->unrecorded;
        if (!deadheat_is_own_turn_(worker, i))
            continue;
        if (!deadheat_begin_turn_(worker, i))
            return -1;
        if (!deadheat_sample_(&worker->race, (size_t)request->turns[i],
                              recorded ? request->iterations : request->unrecorded_iterations,
                              recorded ? values : unrecorded))
            return 0;
        if (!deadheat_end_turn_(worker, i))
            return -1;
        if (recorded)
            values += DEADHEAT_METRICS_;
    }
    return deadheat_end_turns_(worker) ? 1 : -1;
}

/* Recorded turns of the requested block that are of this process. */
static size_t deadheat_recorded_(const deadheat_worker_ *worker)
{
    size_t i, own = 0;
    for (i = (size_t)worker->request.unrecorded; i < worker->request.turn_count; i++)
        own += deadheat_is_own_turn_(worker, i) ? 1 : 0;
    return own;
}

/* Replies with the values of a block: `count` of them in all. */
static int deadheat_send_block_(deadheat_worker_ *worker, const double *values, size_t count)
{
    size_t i;
    deadheat_say_(&worker->said, "{\"block\":{\"values\":[");
    for (i = 0; i < count; i++) {
        deadheat_say_(&worker->said, i > 0 ? "," : "");
        deadheat_number_(&worker->said, values[i]);
    }
    deadheat_say_(&worker->said, "]");
#ifdef __linux__
    {
        const char *reason = deadheat_keep_waiting_(&worker->race.beside);
        if (reason != NULL) {
            deadheat_say_(&worker->said, ",\"keep_waiting\":");
            deadheat_quote_(&worker->said, reason);
        }
    }
#endif
    deadheat_say_(&worker->said, "}}");
    return deadheat_send_(worker);
}

static int deadheat_reply_to_block_(deadheat_worker_ *worker)
{
    const size_t count = deadheat_recorded_(worker) * DEADHEAT_METRICS_;
    double *values = (double *)deadheat_memory_(NULL, count * sizeof(double));
    const int done = deadheat_block_(worker, values);
    int goes_on = 0;
    if (done == 1)
        goes_on = deadheat_send_block_(worker, values, count);
    else if (done == 0)
        deadheat_give_up_failed_(worker);
    else
        deadheat_give_up_(worker, "peer_gone");
    free(values);
    return goes_on;
}

static int deadheat_reply_to_calibrate_(deadheat_worker_ *worker)
{
    deadheat_race_ *race = &worker->race;
    deadheat_text_ *said = &worker->said;
    double *call_ns = (double *)deadheat_memory_(NULL, race->count * sizeof(double));
    uint64_t iterations =
        deadheat_calibrate_(race, worker->request.seed, worker->request.least_ns, call_ns);
    size_t i;
    deadheat_say_(said, "{\"calibrated\":{\"iterations\":");
    deadheat_count_(said, iterations);
    deadheat_say_(said, ",\"call_ns\":[");
    for (i = 0; i < race->count && iterations > 0; i++) {
        deadheat_say_(said, i > 0 ? "," : "");
        deadheat_number_(said, call_ns[i]);
    }
    deadheat_say_(said, "],\"most_iterations\":");
    if (race->entry->input_per_call)
        deadheat_count_(said, DEADHEAT_MOST_INPUTS_);
    else
        deadheat_say_(said, "null");
    deadheat_say_(said, "}}");
    free(call_ns);
    deadheat_note_(race, iterations > 0 ? -1 : race->calling);
    if (iterations > 0)
        return deadheat_send_(worker);
    deadheat_give_up_failed_(worker);
    return 0;
}

/* Whether every turn is somebody's: a contender's, or the other process's. */
static int deadheat_turns_make_sense_(deadheat_worker_ *worker)
{
    const deadheat_request_ *request = &worker->request;
    const int alone = worker->baton_in < 0 || strcmp(request->kind, "block") != 0;
    size_t i;
    for (i = 0; i < request->turn_count; i++)
        if (request->turns[i] >= (long)worker->race.count || (request->turns[i] < 0 && alone))
            return 0;
    return 1;
}

/* Answers a request about the benchmark that is ready; 0 is the end. */
static int deadheat_answer_(deadheat_worker_ *worker)
{
    const deadheat_request_ *request = &worker->request;
    deadheat_race_ *race = &worker->race;
    const char *kind = request->kind;
    uint64_t rounds;
    if (!deadheat_turns_make_sense_(worker)) {
        deadheat_give_up_(worker, "unknown");
        return 0;
    }
    if (strcmp(kind, "block") == 0)
        return deadheat_reply_to_block_(worker);
    if (strcmp(kind, "calibrate") == 0)
        return deadheat_reply_to_calibrate_(worker);
    if (strcmp(kind, "warm_up") == 0) {
        rounds = deadheat_warm_up_(race, request->seed, request->turns, request->turn_count,
                                   request->iterations);
        deadheat_say_(&worker->said, "{\"warm\":{\"rounds\":");
        deadheat_count_(&worker->said, rounds);
        if (race->ready) {
            deadheat_say_(&worker->said, ",\"ready\":");
            deadheat_count_(&worker->said, race->seed);
        }
        deadheat_say_(&worker->said, "}}");
    } else if (strcmp(kind, "smoke") == 0) {
        rounds = (uint64_t)deadheat_call_everyone_once_(race, request->seed);
        deadheat_say_(&worker->said, "{\"sound\":{}}");
    } else {
        deadheat_give_up_(worker, "out_of_turn");
        return 0;
    }
    if (rounds == 0) {
        deadheat_give_up_failed_(worker);
        return 0;
    }
    deadheat_note_(race, -1);
    return deadheat_send_(worker);
}

static void deadheat_prepare_(deadheat_worker_ *worker);

/* Replies until there is nothing more to say. */
static void deadheat_serve_(deadheat_worker_ *worker)
{
    int goes_on = 1;
    while (goes_on && deadheat_hear_(worker) && strcmp(worker->request.kind, "bye") != 0) {
        if (strcmp(worker->request.kind, "list") == 0) {
            deadheat_list_(&worker->said);
            goes_on = deadheat_send_(worker);
        } else if (worker->race.entry != NULL) {
            goes_on = deadheat_answer_(worker);
        } else if (strcmp(worker->request.kind, "prepare") == 0) {
            deadheat_prepare_(worker);
            return;
        } else {
            deadheat_give_up_(worker, "out_of_turn");
            return;
        }
    }
}

/* Calls with the stack as much lower as the request says. */
static void __attribute__((noinline)) deadheat_call_below_(const deadheat_request_ *request,
                                                           void (*call)(void *), void *closure)
{
    const size_t most = 1u << 20;
    size_t bytes = (size_t)request->stack_bytes;
    void *step = __builtin_alloca((bytes < most ? bytes : most) + 1);
    __asm__ volatile("" : : "r"(step) : "memory");
    call(closure);
    __asm__ volatile("" : : "r"(step) : "memory");
}

/* Allocates what the request says and holds it to the end, so that all later
 * memory lies elsewhere. */
static void deadheat_hold_heap_(const deadheat_request_ *request)
{
    void *held = deadheat_memory_(NULL, (size_t)request->heap_bytes);
    memset(held, 1, (size_t)request->heap_bytes);
    __asm__ volatile("" : : "r"(held) : "memory");
}

static void deadheat_serve_it_(void *worker)
{
    deadheat_serve_((deadheat_worker_ *)worker);
}

/* Gets one benchmark ready, and serves it to the end. */
static void deadheat_prepare_(deadheat_worker_ *worker)
{
    const deadheat_request_ *request = &worker->request;
    deadheat_race_ *race = &worker->race;
    deadheat_entry_ *entry = deadheat_program_.first;
    size_t contender = 0;
    deadheat_hold_heap_(request);
    while (entry != NULL &&
           (request->benchmark == NULL || strcmp(entry->name, request->benchmark) != 0))
        entry = entry->next;
    while (entry != NULL && request->contender != NULL && contender < entry->count &&
           strcmp(entry->raced[contender].name, request->contender) != 0)
        contender++;
    if (entry == NULL || contender == entry->count) {
        deadheat_give_up_(worker, "unknown");
        return;
    }
    if (!deadheat_enter_(race, entry)) {
        deadheat_give_up_failed_(worker);
        return;
    }
    race->notes = worker->notes;
    if (request->contender != NULL) {
        race->raced = &entry->raced[contender];
        race->count = 1;
    }
    /* Told, both sides subtract the same. */
    race->counted = request->callgrind;
    race->cpu_overhead_ns = request->cpu_overhead_ns >= 0.0 ? request->cpu_overhead_ns
                                                            : deadheat_cpu_overhead_();
    deadheat_say_(&worker->said, entry->make != NULL ? "{\"prepared\":{\"renews_input\":true}}"
                                                     : "{\"prepared\":{\"renews_input\":false}}");
    if (deadheat_send_(worker))
        deadheat_call_below_(request, deadheat_serve_it_, worker);
}

/* Reads the numbers of `count` descriptors from a variable and takes it out of
 * the environment, so that what is started from here is no worker. */
static int deadheat_inherit_(const char *variable, int count, int *descriptors)
{
    const char *value = getenv(variable);
    char *copy, *at;
    int i;
    if (value == NULL)
        return 0;
    copy = at = deadheat_copy_(value);
    unsetenv(variable);
    for (i = 0; i < count; i++) {
        char *end = at;
        long number = strtol(at, &end, 10);
        if (end == at || *end != (i + 1 < count ? ',' : '\0') || number < 0 ||
            number > 0x7fffffff || fcntl((int)number, F_SETFD, FD_CLOEXEC) < 0)
            deadheat_refuse_("%s=%s does not name %d open descriptors", variable, copy, count);
        descriptors[i] = (int)number;
        at = end + 1;
    }
    free(copy);
    return 1;
}

/* Nothing that a function has started outlives the worker, whether that leaves
   or deadheat dies: with it goes its process group, if it has its own. Of the
   processes that are forked from it none does that. */
static pid_t deadheat_pid_;

static void deadheat_kill_group_(void)
{
    /* Of the first process of a container "the group" would be everything. */
    if (deadheat_pid_ > 1)
        kill(-deadheat_pid_, SIGKILL);
}

static void deadheat_leaves_(void)
{
    if (getpid() != deadheat_pid_ || getpgrp() != deadheat_pid_)
        return;
    /* Aside, so that this process can end as it was about to. */
    setpgid(0, getpgid(getppid()));
    deadheat_kill_group_();
}

#ifdef __linux__
static void deadheat_died_(int number)
{
    (void)number;
    deadheat_kill_group_();
    kill(deadheat_pid_, SIGKILL);
}
#endif

/* Whether this process is a worker, which then needs to know nothing else. */
static int deadheat_becomes_worker_(deadheat_worker_ *worker)
{
    int pipes[3], baton[2] = {-1, -1};
    int is_worker = deadheat_inherit_("DEADHEAT_WORKER", 3, pipes);
    if (!is_worker)
        return 0;
    deadheat_inherit_("DEADHEAT_BATON", 2, baton);
    deadheat_pid_ = getpid();
    atexit(deadheat_leaves_);
#ifdef __linux__
    signal(SIGRTMAX - 3, deadheat_died_);
    prctl(PR_SET_PDEATHSIG, SIGRTMAX - 3);
#endif
    /* That the other process is gone is told by what writing returns. */
    signal(SIGPIPE, SIG_IGN);
    memset(worker, 0, sizeof *worker);
    worker->requests = pipes[0];
    worker->replies = pipes[1];
    worker->notes = pipes[2];
    fcntl(worker->notes, F_SETFL, O_NONBLOCK);
    worker->baton_in = baton[0];
    worker->baton_out = baton[1];
    deadheat_put_(&worker->heard, "", 0);
    return 1;
}

/* ------------------------------------------------------- without deadheat */

static void deadheat_help_(FILE *out, const char *program)
{
    fprintf(out,
            "These benchmarks race against those of another build:\n"
            "\n"
            "    deadheat bench OLD NEW      this program and another build of it\n"
            "    deadheat bench %s      the contenders of each benchmark here\n"
            "\n"
            "usage: %s [--list | --help] [-- ARGUMENTS OF THE BENCHMARKS]\n"
            "\n"
            "Without an option, the program calls every function once, as a test.\n"
            "    --list    prints the names of all benchmarks\n"
            "    --help    prints this text\n",
            program, program);
}

static int deadheat_smoke_(const char *program)
{
    deadheat_entry_ *entry = deadheat_program_.first;
    size_t called = 0;
    for (; entry != NULL; entry = entry->next) {
        deadheat_race_ race;
        if (entry->ignored)
            continue;
        if (!deadheat_enter_(&race, entry) || !deadheat_call_everyone_once_(&race, 1)) {
            fprintf(stderr, "deadheat: benchmark '%s'%s%s failed: %s\n", entry->name,
                    race.calling >= 0 ? ", contender " : "",
                    race.calling >= 0 ? race.raced[race.calling].name : "",
                    deadheat_program_.failure);
            return 1;
        }
        if (race.has_input)
            deadheat_drop_input_(&race, race.input);
        free(race.inputs);
        called += entry->count;
        printf("%s\n", entry->name);
    }
    fflush(stdout);
    fprintf(stderr,
            "The program called every function once (%lu in all) and measured nothing.\n"
            "To race them against another build: deadheat bench OLD %s\n",
            (unsigned long)called, program);
    return 0;
}

static int deadheat_by_hand_(int argc, char **argv)
{
    const deadheat_entry_ *entry = deadheat_program_.first;
    const char *program = argc > 0 ? argv[0] : "PROGRAM";
    int i, list = 0;
    for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            deadheat_help_(stdout, program);
            return 0;
        }
        if (strcmp(argv[i], "--list") != 0) {
            fprintf(stderr,
                    "%s: unknown argument '%s': see --help; 'deadheat bench' races "
                    "benchmarks\n",
                    program, argv[i]);
            return 2;
        }
        list = 1;
    }
    if (!list)
        return deadheat_smoke_(program);
    for (; entry != NULL; entry = entry->next)
        printf("%s\n", entry->name);
    return 0;
}

int deadheat_main(int argc, char **argv)
{
    static deadheat_worker_ worker;
    int is_worker = deadheat_becomes_worker_(&worker);
    deadheat_suite_ *suite = deadheat_program_.first_suite;
    deadheat_entry_ *entry;
    int i;
    for (i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            deadheat_program_.arguments = argv + i + 1;
            deadheat_program_.argument_count = (size_t)(argc - i - 1);
            break;
        }
    /* deadheat removes the "--" of its own command line, and asks Google Benchmark a question. */
    if (is_worker && deadheat_program_.arguments == NULL) {
        int kept = 1;
        for (i = 1; i < argc; i++)
            if (strncmp(argv[i], "--benchmark_list_tests", 22) != 0)
                argv[kept++] = argv[i];
        argv[kept] = NULL;
        deadheat_program_.arguments = argv + 1;
        deadheat_program_.argument_count = (size_t)(kept - 1);
    }
    for (; suite != NULL; suite = suite->next)
        suite->run();
    for (entry = deadheat_program_.first; entry != NULL; entry = entry->next)
        deadheat_sort_(entry);
    for (entry = deadheat_program_.first; entry != NULL; entry = entry->next)
        deadheat_check_(entry);
    if (!is_worker)
        return deadheat_by_hand_(argc, argv);
#ifdef __cplusplus
    deadheat_hello_(&worker.said, "deadheat.h " DEADHEAT_VERSION ", C++, " DEADHEAT_COMPILER_, NULL);
#else
    deadheat_hello_(&worker.said, "deadheat.h " DEADHEAT_VERSION ", C, " DEADHEAT_COMPILER_, NULL);
#endif
    if (deadheat_send_(&worker))
        deadheat_serve_(&worker);
    return worker.exit_code;
}

#ifdef __cplusplus
} /* extern "C" */
#pragma GCC diagnostic pop
#endif

#endif /* DEADHEAT_IMPLEMENTATION */

#endif /* DEADHEAT_H */
