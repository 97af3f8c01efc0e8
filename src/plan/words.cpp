#include "plan/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace flashbench {

namespace {

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& letter : result)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

// Insertions, deletions, substitutions and swaps of neighbours that turn a into b.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest_word = 40;  // nobody mistypes longer ones, and the table is square
  if (word.empty() || word.size() > longest_word) return {};
  const std::string given = lower(word);
  // Of words of one or two letters only the case can be mistyped: v3 is not meant to be v1.
  std::size_t least = given.size() <= 2 ? 1 : (given.size() + 1) / 3 + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t errors = distance(given, lower(candidate));
    if (errors >= least || errors >= candidate.size()) continue;
    least = errors;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view before) {
  const std::string candidate = nearest(word, candidates);
  if (candidate.empty()) return {};
  return fmt::format("; did you mean \"{}{}\"?", before, candidate);
}

std::string listed(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace flashbench
