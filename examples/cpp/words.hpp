// What the two builds do differently.

#pragma once

#include <cstddef>
#include <string>

// Words of a text, which single spaces part.
std::size_t count_words(const std::string &text);

// The text with its words in reverse order.
std::string reversed(const std::string &text);
