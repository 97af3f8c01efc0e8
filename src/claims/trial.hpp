// Measured times held against a range: one rule for every claim that rests on times.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "claims/select.hpp"
#include "estimate/bounds.hpp"

namespace flashbench {

Bounds above(double least);
Bounds below(double most);
// What counts as a figure of the document's: 20 % either way.
Bounds near_document(double figure);

// Of the medians of two timed rows, the one's over the other's, and between what it lies.
double time_quotient(const Row& over, const Row& under);
Bounds time_bounds(const Row& over, const Row& under);

// "1.50 to 1.70", "at least 1.50", "at most 1.70", "no interval".
std::string shown(const Bounds&, int digits = 2);

// "1k 1.23, 2k 1.34", in the order in which they come; with head dimensions where there are
// several.
class Listing {
 public:
  void add(const Row&, std::optional<double> figure);
  std::string text() const;

 private:
  std::map<std::int64_t, std::string> by_head_dim_;
};

// A claim holds where every figure lies within its range as far as its interval reaches, does not
// where one lies outside as far, and is open otherwise.
class Trial {
 public:
  // `by`: the rows that the figure is made of.
  void add(const Bounds& figure, const Bounds& range, const Rows& by);
  // `figures` in each of the three; of an open one also why the rows do not decide.
  Finding finding(const std::string& figures) const;

 private:
  bool outside_ = false, open_ = false;
  Rows undecided_;
};

// Where these rows' times do not decide: because of too few samples, or of intervals too wide.
Finding open_by(const Rows&, const std::string& figures);

}  // namespace flashbench
