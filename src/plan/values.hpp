// The values a user types, strictly: a word is understood whole or refused with a sentence. Every
// function throws UsageError; the caller says before it which flag or key the word belonged to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/request.hpp"
#include "plan/words.hpp"

namespace flashbench {

// Digits, then k or m for x1024 and x1048576.
std::int64_t parse_integer(std::string_view text, std::int64_t least);
// Values and inclusive ranges, separated by commas: "64,512:16k:*2,1024:4096:+512".
std::vector<std::int64_t> parse_integers(std::string_view text, std::int64_t least);
// Any finite number.
double parse_number(std::string_view text);
double parse_positive(std::string_view text);
// "0.5%" or 0.005: a part of one, from 0 to below 1.
double parse_fraction(std::string_view text);
std::vector<std::string> split_list(std::string_view text);

template <class Enum>
std::vector<std::string> words_of() {
  return {Words<Enum>::all.begin(), Words<Enum>::all.end()};
}

// `allowed`: the spellings of Enum that a user may give.
template <class Enum>
Enum parse_word(std::string_view text, const std::vector<std::string>& allowed = words_of<Enum>()) {
  for (const std::string& word : allowed)
    if (word == text) return *parse<Enum>(text);
  throw UsageError("\"" + std::string(text) + "\" is none of " + listed(allowed) +
                   did_you_mean(text, allowed));
}

}  // namespace flashbench
