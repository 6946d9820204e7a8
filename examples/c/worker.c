/* A program whose functions deadheat races: make worker, then
 *
 *     deadheat bench ./worker
 */
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>

#include <stdlib.h>

enum { WORDS = 1000 };

static void *words(uint64_t seed)
{
    uint64_t *words = malloc(WORDS * sizeof *words);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = deadheat_random(&seed);
    return words;
}

static unsigned ones_by_shifting(uint64_t word)
{
    unsigned ones = 0;
    for (; word != 0; word >>= 1)
        ones += word & 1;
    return ones;
}

static unsigned ones_by_clearing(uint64_t word)
{
    unsigned ones = 0;
    for (; word != 0; word &= word - 1)
        ones++;
    return ones;
}

DEADHEAT_BASELINE(ones, shifting, .input = words, .drop_input = free, .items = WORDS)
{
    const uint64_t *words = input;
    unsigned ones = 0;
    for (size_t i = 0; i < WORDS; i++)
        ones += ones_by_shifting(words[i]);
    deadheat_keep(ones);
}

DEADHEAT_CANDIDATE(ones, clearing)
{
    const uint64_t *words = input;
    unsigned ones = 0;
    for (size_t i = 0; i < WORDS; i++)
        ones += ones_by_clearing(words[i]);
    deadheat_keep(ones);
}

DEADHEAT_MAIN();
