#include "words.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

std::size_t count_words(const std::string &text)
{
    std::istringstream words(text);
    using Words = std::istream_iterator<std::string>;
    return static_cast<std::size_t>(std::distance(Words(words), Words()));
}

std::string reversed(const std::string &text)
{
    std::istringstream words(text);
    std::vector<std::string> all;
    for (std::string word; words >> word;)
        all.push_back(word);
    std::reverse(all.begin(), all.end());
    std::string result;
    for (const auto &word : all)
        result += result.empty() ? word : " " + word;
    return result;
}
