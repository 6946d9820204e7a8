/* The body of both kernels. Each has it in a file of its own, where no
 * compiler can see that there are two of them and keep only one. */

#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>
#include <stdint.h>

uint64_t first(const uint64_t *words, size_t count);
uint64_t second(const uint64_t *words, size_t count);

/* A hash in the manner of FNV whose next step depends on the word: how fast it
 * is depends on how well the branches are predicted, and so on where they lie. */
#define KERNEL(NAME)                                                           \
    uint64_t NAME(const uint64_t *words, size_t count)                         \
    {                                                                          \
        uint64_t hash = UINT64_C(14695981039346656037);                        \
        for (size_t i = 0; i < count; i++) {                                   \
            uint64_t word = words[i];                                          \
            if (word % 4 == 0)                                                 \
                hash = (hash ^ word) * UINT64_C(1099511628211);                \
            else if (word % 4 == 1 && (hash & 1) != 0)                         \
                hash += word >> 7;                                             \
            else if (word % 8 < 5)                                             \
                hash = (hash << 9 | hash >> 55) ^ word;                        \
            else                                                               \
                hash -= word ^ UINT64_C(0x9e3779b97f4a7c15);                   \
        }                                                                      \
        return hash;                                                           \
    }

#endif
