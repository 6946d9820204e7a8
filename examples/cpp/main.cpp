// kernels NAME [ROUNDS]: hashes 1,024 words ROUNDS times.

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "kernel.hpp"

int main(int argc, char **argv)
{
    const std::map<std::string, std::uint64_t (*)(const Words &)> kernels = {
        {"first", first},
        {"second", second},
    };
    const auto chosen = kernels.find(argc > 1 ? argv[1] : "");
    if (chosen == kernels.end()) {
        std::cerr << "usage: " << argv[0] << " first|second [ROUNDS]\n";
        return 2;
    }
    const long rounds = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 2000;

    Words words = made_up_words();
    std::uint64_t hash = 0;
    for (long round = 0; round < rounds; round++) {
        hash ^= chosen->second(words);
        words[hash % words.size()] ^= hash;
    }
    std::cout << std::hex << hash << '\n';
}
