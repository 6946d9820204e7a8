// The body of both kernels. Each has it in a file of its own, where no
// compiler can see that there are two of them and keep only one.

#pragma once

#include <cstdint>
#include <vector>

using Words = std::vector<std::uint64_t>;

std::uint64_t first(const Words &words);
std::uint64_t second(const Words &words);

// 1,024 words that are the same everywhere.
inline Words made_up_words()
{
    Words words(1024);
    std::uint64_t state = 1;
    for (auto &word : words) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        word = state >> 33;
    }
    return words;
}

// A hash in the manner of FNV whose next step depends on the word: how fast it
// is depends on how well the branches are predicted, and so on where they lie.
static inline std::uint64_t kernel(const Words &words)
{
    std::uint64_t hash = 14695981039346656037u;
    for (std::uint64_t word : words) {
        if (word % 4 == 0)
            hash = (hash ^ word) * 1099511628211u;
        else if (word % 4 == 1 && (hash & 1) != 0)
            hash += word >> 7;
        else if (word % 8 < 5)
            hash = (hash << 9 | hash >> 55) ^ word;
        else
            hash -= word ^ 0x9e3779b97f4a7c15u;
    }
    return hash;
}
