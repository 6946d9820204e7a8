/* The new build: letters are looked up, and there is a benchmark that old.c
 * does not know. */
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>

#include <stdlib.h>
#include <string.h>

#include "text.h"

static unsigned char is_letter[256];

static void make_table(void *context)
{
    (void)context;
    for (int letter = 'a'; letter <= 'z'; letter++)
        is_letter[letter] = is_letter[letter - 'a' + 'A'] = 1;
}

DEADHEAT_BENCHMARK(count_letters, .setup = make_table, .input = text, .drop_input = free,
                   .bytes = LENGTH)
{
    const unsigned char *text = input;
    size_t letters = 0;
    for (size_t i = 0; i < LENGTH; i++)
        letters += is_letter[text[i]];
    deadheat_keep(letters);
}

DEADHEAT_BENCHMARK(find_end, .input = text, .drop_input = free, .bytes = LENGTH)
{
    deadheat_keep(strlen(input));
}

DEADHEAT_BENCHMARK(find_letter, .input = text, .drop_input = free, .bytes = LENGTH)
{
    deadheat_keep(strchr(input, '~'));
}

DEADHEAT_MAIN();
