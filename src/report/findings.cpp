#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "estimate/bounds.hpp"
#include "report/grid.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

constexpr std::size_t most_places = 3;

// The rows that answer the same question, by implementation; only what was measured.
using Answers = std::map<std::string, const Row*>;

// Of implementations of this build and of plugins; rungs of the ladder are for comparing with each
// other.
bool counts(const Row& row) {
  return row.status == Status::ok && row.time && row.time->median > 0 && says_problem(row) &&
         !row.what.impl.empty() && row.what.impl.find('/') == row.what.impl.npos &&
         !row.what.source.starts_with("against:");
}

// In the report's order.
std::vector<Answers> problems_of(const Report& report) {
  std::vector<Answers> problems;
  std::map<std::string, std::size_t> places;
  for (const Row& row : report.rows) {
    if (!counts(row)) continue;
    const std::string question = device_of(row, report) + "/" + std::string(name(row.what.pass)) +
                                 "/" + problem_key(row.what);
    const auto [place, is_new] = places.try_emplace(question, problems.size());
    if (is_new) problems.emplace_back();
    problems[place->second].try_emplace(row.what.impl, &row);
  }
  return problems;
}

// "all 8 problems", "6 of 8 problems", "the one problem".
std::string count_of(std::size_t some, std::size_t all) {
  if (all == 1) return "the one problem";
  return some == all ? fmt::format("all {} problems", all)
                     : fmt::format("{} of {} problems", some, all);
}

std::string in_parentheses(const std::string& place) {
  return place.empty() ? "" : " (" + place + ")";
}

std::string listed_places(const std::vector<const Row*>& rows, const Report& report) {
  std::vector<std::string> places;
  for (const Row* row : rows)
    if (const std::string place = place_of(*row, report); !place.empty()) places.push_back(place);
  if (places.size() > most_places) {
    const std::size_t more = places.size() - most_places;
    places.resize(most_places);
    places.push_back(fmt::format("{} more", more));
  }
  return in_parentheses(fmt::format("{}", fmt::join(places, "; ")));
}

struct Quotient {
  double value = 1;
  const Row* row = nullptr;
};

std::string range_of(const std::vector<Quotient>& quotients, const Report& report) {
  const auto [least, most] = std::ranges::minmax_element(quotients, {}, &Quotient::value);
  const auto one = [&](const Quotient& quotient) {
    return fmt::format("{:.2f}x{}", quotient.value,
                       in_parentheses(place_of(*quotient.row, report)));
  };
  return quotients.size() == 1 ? one(*least) : one(*least) + " to " + one(*most);
}

bool is_behind(const Row& row, const Row& best) {
  return quotient_bounds(*row.time, *best.time).low > 1;
}

// Where v2 passes v1, and where not.
void add_passing(std::vector<std::string>& findings, const std::vector<Answers>& problems,
                 const Report& report) {
  std::vector<Quotient> faster, slower;
  std::vector<const Row*> unsure;
  for (const Answers& rows : problems) {
    const auto v1 = rows.find("v1"), v2 = rows.find("v2");
    if (v1 == rows.end() || v2 == rows.end()) continue;
    const double gain = v1->second->time->median / v2->second->time->median;
    if (is_behind(*v1->second, *v2->second))
      faster.push_back({gain, v2->second});
    else if (is_behind(*v2->second, *v1->second))
      slower.push_back({1 / gain, v2->second});
    else
      unsure.push_back(v2->second);
  }
  const std::size_t all = faster.size() + slower.size() + unsure.size();
  if (all == 0) return;
  std::vector<std::string> parts;
  if (!faster.empty())
    parts.push_back(fmt::format("v2 passes v1 in {}, by {}", count_of(faster.size(), all),
                                range_of(faster, report)));
  if (!slower.empty())
    parts.push_back(fmt::format("v1 is faster in {}, by {}", count_of(slower.size(), all),
                                range_of(slower, report)));
  if (!unsure.empty())
    parts.push_back(fmt::format("the times do not tell v1 and v2 apart in {}{}",
                                count_of(unsure.size(), all), listed_places(unsure, report)));
  if (faster.empty() && slower.empty()) parts.front().front() = 'T';
  findings.push_back(fmt::format("{}.", fmt::join(parts, "; ")));
}

// The implementations that may be the fastest: the least median, and what is not behind it.
Answers fastest_of(const Answers& rows) {
  const auto best = std::ranges::min_element(
      rows, {}, [](const auto& entry) { return entry.second->time->median; });
  Answers fastest;
  for (const auto& [impl, row] : rows)
    if (row == best->second || !is_behind(*row, *best->second)) fastest.emplace(impl, row);
  return fastest;
}

// Which implementation wins where. That naive does nowhere is said too, unless it may after all.
void add_winners(std::vector<std::string>& findings, const std::vector<Answers>& problems,
                 const Report& report) {
  std::map<std::string, std::vector<const Row*>> wins;
  std::vector<const Row*> ties;
  std::size_t all = 0;
  bool naive_lost = false, naive_may_win = false;
  for (const Answers& rows : problems) {
    if (rows.size() < 2) continue;
    ++all;
    const Answers fastest = fastest_of(rows);
    (fastest.contains("naive") ? naive_may_win : naive_lost) |= rows.contains("naive");
    const auto& [impl, row] = *fastest.begin();
    (fastest.size() == 1 ? wins[impl] : ties).push_back(row);
  }
  if (all == 0) return;
  std::vector<std::pair<std::string, std::vector<const Row*>>> order(wins.begin(), wins.end());
  std::ranges::stable_sort(order, std::greater(),
                           [](const auto& entry) { return entry.second.size(); });
  std::vector<std::string> parts;
  for (const auto& [impl, rows] : order)
    parts.push_back(fmt::format("{} in {}{}", impl, count_of(rows.size(), all),
                                rows.size() == all ? "" : listed_places(rows, report)));
  if (naive_lost && !naive_may_win) parts.emplace_back("naive nowhere");
  if (!ties.empty())
    parts.push_back(fmt::format("the times do not tell in {}{}", count_of(ties.size(), all),
                                ties.size() == all ? "" : listed_places(ties, report)));
  findings.push_back(fmt::format("The fastest: {}.", fmt::join(parts, ", ")));
}

struct Bound {
  std::size_t rows = 0;
  double least = INFINITY, most = 0;  // of the ceiling
};

// Which ceiling binds which implementation, and how much of it is reached.
void add_bounds(std::vector<std::string>& findings, const std::vector<Answers>& problems) {
  std::map<std::string, std::map<std::string, Bound>> bounds;  // by resource and implementation
  for (const Answers& rows : problems)
    for (const auto& [impl, row] : rows) {
      const Utilization& use = row->utilization;
      if (use.binds.empty() || !use.ceiling) continue;
      Bound& bound = bounds[use.binds][impl];
      ++bound.rows;
      bound.least = std::min(bound.least, 100 * *use.ceiling);
      bound.most = std::max(bound.most, 100 * *use.ceiling);
    }
  for (const auto& [resource, by_impl] : bounds) {
    std::vector<std::string> parts;
    for (const auto& [impl, bound] : by_impl) {
      const std::string low = fmt::format("{:.0f}", bound.least),
                        high = fmt::format("{:.0f}", bound.most);
      parts.push_back(fmt::format("{} in {} row{} ({} % of it)", impl, bound.rows,
                                  bound.rows == 1 ? "" : "s",
                                  low == high ? low : low + " to " + high));
    }
    findings.push_back(
        fmt::format("The ceiling of {} binds {}.", resource, fmt::join(parts, ", ")));
  }
}

}  // namespace

std::vector<std::string> findings_of(const Report& report) {
  std::vector<std::string> findings;
  const std::vector<Answers> problems = problems_of(report);
  add_passing(findings, problems, report);
  add_winners(findings, problems, report);
  add_bounds(findings, problems);
  for (std::string& finding : findings) finding = one_line(finding);
  return findings;
}

}  // namespace flashbench
