/* The old build: its functions have the names of those in new.c. */
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>

#include <stdlib.h>
#include <string.h>

#include "text.h"

DEADHEAT_BENCHMARK(count_letters, .input = text, .drop_input = free, .bytes = LENGTH)
{
    const char *text = input;
    size_t letters = 0;
    for (size_t i = 0; i < LENGTH; i++)
        if ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z'))
            letters++;
    deadheat_keep(letters);
}

DEADHEAT_BENCHMARK(find_end, .input = text, .drop_input = free, .bytes = LENGTH)
{
    deadheat_keep(strlen(input));
}

DEADHEAT_MAIN();
