/* The input of both builds: printable characters, the same for the same seed. */

#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>
#include <stdlib.h>

enum { LENGTH = 4096 };

static inline void *text(uint64_t seed)
{
    char *text = malloc(LENGTH + 1);
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = (char)(' ' + deadheat_random(&seed) % ('~' - ' '));
    text[LENGTH] = '\0';
    return text;
}

#endif
