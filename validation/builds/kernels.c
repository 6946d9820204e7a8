/* Twenty functions of different shapes, the same in every build; one more does
 * PERCENT per cent more work than in another build. Raced by `builds`. */
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERCENT
#define PERCENT 0
#endif

enum { LENGTH = 1024 };

static void *numbers(uint64_t seed)
{
    uint64_t *made = malloc(LENGTH * sizeof *made);
    for (int i = 0; made != NULL && i < LENGTH; i++) {
        made[i] = deadheat_random(&seed);
    }
    return made;
}

static inline uint64_t mix(uint64_t state, int steps)
{
    for (int i = 0; i < steps; i++) {
        state = (state ^ (state >> 31)) * UINT64_C(0x6a09e667f3bcc909);
    }
    return state;
}

/* Exactly so many steps in a row: 10,000 and PERCENT per cent more. */
DEADHEAT_BENCHMARK(steps)
{
    deadheat_keep(mix(deadheat_opaque(1), deadheat_opaque(10000 + 100 * PERCENT)));
}

#define OVER_NUMBERS(NAME, ...)                                                \
    DEADHEAT_BENCHMARK(NAME, .input = numbers, .drop_input = free)             \
    {                                                                          \
        const uint64_t *in = input;                                            \
        uint64_t out = 0;                                                      \
        __VA_ARGS__                                                            \
        deadheat_keep(out);                                                    \
    }

OVER_NUMBERS(sum, for (int i = 0; i < LENGTH; i++) { out += in[i]; })
OVER_NUMBERS(exclusive_or, for (int i = 0; i < LENGTH; i++) { out ^= in[i]; })
OVER_NUMBERS(odd_sum, for (int i = 0; i < LENGTH; i++) { if (in[i] & 1) out += in[i]; })
OVER_NUMBERS(largest, for (int i = 0; i < LENGTH; i++) { if (in[i] > out) out = in[i]; })
OVER_NUMBERS(smallest_two, uint64_t least = ~UINT64_C(0); for (int i = 0; i < LENGTH; i++) {
    if (in[i] < least) { out = least; least = in[i]; } })
OVER_NUMBERS(bits, for (int i = 0; i < LENGTH; i++) { out += (uint64_t)__builtin_popcountll(in[i]); })
OVER_NUMBERS(hash, for (int i = 0; i < LENGTH; i++) { out = (out ^ in[i]) * UINT64_C(0x100000001b3); })
OVER_NUMBERS(rotate, for (int i = 0; i < LENGTH; i++) { out = (out << 7 | out >> 57) + in[i]; })
OVER_NUMBERS(divide, for (int i = 0; i < LENGTH / 8; i++) { out += in[i] / (in[i + 1] >> 40 | 1); })
OVER_NUMBERS(remainder, for (int i = 0; i < LENGTH / 8; i++) { out += in[i] % (in[i + 1] >> 50 | 1); })
OVER_NUMBERS(walk, uint64_t at = 0; for (int i = 0; i < LENGTH; i++) { at = in[at] % LENGTH; out += at; })
OVER_NUMBERS(gather, for (int i = 0; i < LENGTH; i++) { out += in[in[i] % LENGTH]; })
OVER_NUMBERS(digits, for (int i = 0; i < LENGTH / 16; i++) { for (uint64_t n = in[i]; n > 0; n /= 10) out++; })
OVER_NUMBERS(switches, for (int i = 0; i < LENGTH; i++) { switch (in[i] % 5) {
    case 0: out += 3; break; case 1: out ^= in[i]; break; case 2: out -= 7; break;
    case 3: out *= 5; break; default: out++; } })
OVER_NUMBERS(copies, uint64_t copy[LENGTH]; memcpy(copy, in, sizeof copy); out = copy[in[0] % LENGTH];)
OVER_NUMBERS(insertion_sort, uint64_t a[64]; memcpy(a, in, sizeof a);
    for (int i = 1; i < 64; i++) { uint64_t x = a[i]; int j = i;
        for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
        a[j] = x; }
    out = a[32];)
OVER_NUMBERS(allocations, for (int i = 0; i < 64; i++) {
    uint64_t *p = malloc(in[i] % 512 + 8); deadheat_keep(p); if (p != NULL) { *p = in[i]; out += *p; } free(p); })
OVER_NUMBERS(search, const unsigned char *text = (const unsigned char *)in;
    for (size_t i = 0; i < LENGTH * 8; i++) { if (text[i] == 'x') out++; })
OVER_NUMBERS(greatest_divisor, for (int i = 0; i < LENGTH / 64; i++) { uint64_t a = in[i]; uint64_t b = in[i + 1];
    while (b != 0) { uint64_t rest = a % b; a = b; b = rest; } out += a; })

DEADHEAT_MAIN();
