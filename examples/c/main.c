/* kernels NAME [ROUNDS]: hashes 1,024 words ROUNDS times. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum { WORDS = 1024 };

int main(int argc, char **argv)
{
    uint64_t (*kernel)(const uint64_t *, size_t) = NULL;
    if (argc > 1 && strcmp(argv[1], "first") == 0)
        kernel = first;
    if (argc > 1 && strcmp(argv[1], "second") == 0)
        kernel = second;
    if (kernel == NULL) {
        fprintf(stderr, "usage: %s first|second [ROUNDS]\n", argv[0]);
        return 2;
    }
    long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 2000;

    static uint64_t words[WORDS];
    uint64_t state = 1;
    for (size_t i = 0; i < WORDS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        words[i] = state >> 33;
    }
    uint64_t hash = 0;
    for (long round = 0; round < rounds; round++) {
        hash ^= kernel(words, WORDS);
        words[hash % WORDS] ^= hash;
    }
    printf("%016" PRIx64 "\n", hash);
    return 0;
}
