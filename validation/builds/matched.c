/* A function full of branches among three hundred others, for races of builds
 * on matched and on independent links. PERCENT per cent more numbers are looked
 * at than in another build; with GROWN others have become larger, and two are
 * new, all of them before the one that is raced. With ONE_INPUT the numbers are
 * the same in every block. */
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
#include <stdlib.h>

#ifndef PERCENT
#define PERCENT 0
#endif

enum { LENGTH = 1500 + 15 * PERCENT };

#define OTHER(N, ...)                                                          \
    __attribute__((noinline)) uint64_t other_##N(uint64_t x)                   \
    {                                                                          \
        for (uint64_t i = 0; i < x % (1##N % 7 + 1); i++) {                    \
            x = (x ^ x >> (1##N % 5 + 1)) * (2 * 1##N + 1);                    \
            if (x & 1##N) x += 1##N;                                           \
        }                                                                      \
        __VA_ARGS__                                                            \
        return x;                                                              \
    }
#define TEN(EACH, N)                                                           \
    EACH(N##0) EACH(N##1) EACH(N##2) EACH(N##3) EACH(N##4)                     \
    EACH(N##5) EACH(N##6) EACH(N##7) EACH(N##8) EACH(N##9)
#define HUNDRED(EACH, N)                                                       \
    TEN(EACH, N##0) TEN(EACH, N##1) TEN(EACH, N##2) TEN(EACH, N##3)            \
    TEN(EACH, N##4) TEN(EACH, N##5) TEN(EACH, N##6) TEN(EACH, N##7)            \
    TEN(EACH, N##8) TEN(EACH, N##9)
#define CALLED(N) , other_##N
#define PLAIN(N) OTHER(N, )

HUNDRED(PLAIN, 0)
HUNDRED(PLAIN, 1)
HUNDRED(PLAIN, 2)
#ifdef GROWN
OTHER(300, x ^= x >> 9; x *= x | 1; x ^= x << 3; if (x % 11 == 3) x -= 17; x *= 13; x ^= x >> 21;)
OTHER(301, for (int i = 0; i < 9; i++) { x = x * 31 + (x >> 3) * (uint64_t)i; if (x % 5 == 1) x ^= 99; })
OTHER(302, x *= 3;)
#else
OTHER(300, )
#endif

static uint64_t (*const others[])(uint64_t) = {
    other_300 HUNDRED(CALLED, 0) HUNDRED(CALLED, 1) HUNDRED(CALLED, 2)
#ifdef GROWN
    CALLED(301) CALLED(302)
#endif
};

static void *numbers(uint64_t seed)
{
    uint64_t *made = malloc(LENGTH * sizeof *made);
#ifdef ONE_INPUT
    seed = 42;
#endif
    uint64_t x = seed;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        x = others[i](x | 64);
    }
    deadheat_keep(x);
    for (int i = 0; made != NULL && i < LENGTH; i++) {
        made[i] = deadheat_random(&seed);
    }
    return made;
}

__attribute__((noinline)) uint64_t branchy(const uint64_t *in)
{
    uint64_t out = 0;
    for (int i = 0; i < LENGTH; i++) {
        uint64_t x = in[i];
        if (x & 1) {
            out += x;
            if (x & 2) out ^= deadheat_opaque(x >> 3);
        } else {
            out -= x >> 1;
            if (x & 4) out += deadheat_opaque(7);
            else out ^= deadheat_opaque(out >> 5);
        }
        if ((x >> 8 & 3) == 0) out *= deadheat_opaque(3);
    }
    return out;
}

DEADHEAT_BENCHMARK(branches, .input = numbers, .drop_input = free)
{
    deadheat_keep(branchy(input));
}

DEADHEAT_MAIN();
