// Benchmarks that deadheat races between two builds:
//
//     deadheat bench build/worker_old build/worker_new

#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>

#include <string>

#include "words.hpp"

// So many words of one to eight letters.
static std::string text(std::size_t words, std::uint64_t seed)
{
    deadheat::random random(seed);
    std::string text;
    while (words-- > 0)
        text += std::string(1 + random() % 8, 'a') + (words > 0 ? " " : "");
    return text;
}

DEADHEAT_SUITE(words)
{
    for (std::size_t words : {10, 1000}) {
        const auto length = std::to_string(words);
        const auto of_length = [words](std::uint64_t seed) { return text(words, seed); };
        deadheat::benchmark("count/" + length)
            .parameter("words", length)
            .items(words)
            .input(of_length)
            .function(count_words);
        deadheat::benchmark("reverse/" + length)
            .parameter("words", length)
            .items(words)
            .input(of_length)
            .function(reversed);
    }
}

DEADHEAT_MAIN();
