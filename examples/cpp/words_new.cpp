#include "words.hpp"

#include <algorithm>

std::size_t count_words(const std::string &text)
{
    const auto spaces = std::count(text.begin(), text.end(), ' ');
    return text.empty() ? 0 : static_cast<std::size_t>(spaces) + 1;
}

std::string reversed(const std::string &text)
{
    std::string result(text.rbegin(), text.rend());
    for (auto word = result.begin(); word != result.end();) {
        const auto end = std::find(word, result.end(), ' ');
        std::reverse(word, end);
        word = end == result.end() ? end : end + 1;
    }
    return result;
}
