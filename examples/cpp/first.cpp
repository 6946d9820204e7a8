#include "kernel.hpp"

std::uint64_t first(const Words &words)
{
    return kernel(words);
}
