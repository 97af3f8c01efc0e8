#include "report/ladder_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace flashbench {

namespace {

using Texts = std::vector<std::string>;

// A line of the walk that has its row.
struct Finding {
  const LadderLine* line;
  const LadderPlace* place;
};

std::string listed(const Texts& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  const Texts first(words.begin(), words.end() - 1);
  return fmt::format("{} and {}", fmt::join(first, ", "), words.back());
}

// "ladder/q-outer" is q-outer, "without/q-outer" too.
std::string idea_of(const LadderLine& line) {
  return line.impl.substr(line.impl.find('/') + 1);
}

std::string times(double factor) {
  return fmt::format("{:.{}f} x", factor, factor < 10 ? 3 : 1);
}

std::string share_of(const LadderPlace& place) {
  return place.share ? fmt::format(", {:.0f} % of the way", 100 * *place.share) : "";
}

class Walk {
 public:
  Walk(const LadderRows& ladder, const std::vector<Row>& rows) {
    for (const std::size_t i : ladder.rows)
      rows_.push_back(i == LadderRows::none ? nullptr : &rows[i]);
  }

  const Row* row(std::size_t line) const { return rows_[line]; }
  bool measured(std::size_t line) const {
    return rows_[line] && rows_[line]->status == Status::ok && rows_[line]->time;
  }
  bool has_gaps() const {
    for (std::size_t i = 0; i < rows_.size() && ladder_lines()[i].is_rung; ++i)
      if (!measured(i)) return true;
    return false;
  }
  // Lines with an idea and a figure for it, the largest gain first.
  std::vector<Finding> findings(bool rungs, Effect effect) const {
    std::vector<Finding> found;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const LadderLine& line = ladder_lines()[i];
      const bool wanted = rungs ? line.is_rung : line.impl.starts_with("without/");
      if (!wanted || !rows_[i] || !rows_[i]->ladder) continue;
      if (effect_of(*rows_[i]->ladder) == effect) found.push_back({&line, &*rows_[i]->ladder});
    }
    std::ranges::stable_sort(found, [](const Finding& one, const Finding& other) {
      return *one.place->gain > *other.place->gain;
    });
    return found;
  }

 private:
  std::vector<const Row*> rows_;
};

template <class F>
Texts each(const std::vector<Finding>& findings, const F& text_of) {
  Texts texts;
  for (const Finding& one : findings) texts.push_back(text_of(one));
  return texts;
}

std::string with_gain(const Finding& one) {
  return fmt::format("{} ({})", idea_of(*one.line), times(*one.place->gain));
}
std::string with_interval(const Finding& one) {
  const LadderPlace& place = *one.place;
  if (!place.low || !place.high)
    return fmt::format("{} ({}, no interval)", idea_of(*one.line), times(*place.gain));
  return fmt::format("{} ({:.3f} to {:.3f} x)", idea_of(*one.line), *place.low, *place.high);
}

void add_way(Texts& words, const Walk& walk) {
  const auto& lines = ladder_lines();
  const std::size_t end =
      static_cast<std::size_t>(std::ranges::find(lines, false, &LadderLine::is_rung) -
                               lines.begin()) -
      1;
  if (!walk.measured(0) || !walk.measured(end)) return;
  const Row &from = *walk.row(0), &to = *walk.row(end);
  std::string way = fmt::format("{} is {} as fast as {}", lines[end].impl,
                                times(from.time->median / to.time->median), lines[0].impl);
  if (from.tflops && to.tflops)
    way += fmt::format(": {:.1f} TFLOPS after {:.1f}", *to.tflops, *from.tflops);
  words.push_back(way + ".");
}

// The largest gain, and those which the measurement cannot tell from it; then the others.
void add_gains(Texts& words, const Walk& walk, const std::string& here) {
  const std::vector<Finding> gains = walk.findings(true, Effect::gains);
  if (gains.empty()) return;
  Texts most, others;
  for (const Finding& one : gains) {
    Texts& where = *one.place->high >= *gains.front().place->low ? most : others;
    where.push_back(fmt::format("{} ({}{})", idea_of(*one.line), times(*one.place->gain),
                                share_of(*one.place)));
  }
  words.push_back(
      most.size() == 1
          ? fmt::format("{} pays most {}.", most.front(), here)
          : fmt::format("{} pay most {}; which of them more cannot be told.", listed(most), here));
  if (!others.empty()) words.push_back(fmt::format("Also gained by {}.", listed(others)));
}

void add_others(Texts& words, const Walk& walk, const std::string& here) {
  if (const auto none = each(walk.findings(true, Effect::nothing), with_gain); !none.empty())
    words.push_back(fmt::format("Nothing, within 1 %, is gained {} by {}.", here, listed(none)));
  if (const auto losses = each(walk.findings(true, Effect::loses), with_gain); !losses.empty())
    words.push_back(fmt::format("Slower than the rung below: {}.", listed(losses)));
  if (const auto open = each(walk.findings(true, Effect::unsure), with_interval); !open.empty())
    words.push_back(fmt::format("Too imprecise to tell: {}.", listed(open)));
}

// Rungs without a figure, and the ideas of which nothing can be said for their lack.
void add_gaps(Texts& words, const Walk& walk) {
  const auto& lines = ladder_lines();
  Texts gaps, open;
  for (std::size_t i = 0; i < lines.size() && lines[i].is_rung; ++i) {
    const bool gap = !walk.measured(i), gap_below = i > 0 && !walk.measured(i - 1);
    if (gap)
      gaps.push_back(fmt::format(
          "{} ({})", lines[i].impl,
          walk.row(i) ? name(walk.row(i)->status) : std::string_view("not among the rows")));
    if (i > 0 && (gap || gap_below)) open.push_back(idea_of(lines[i]));
  }
  if (gaps.empty()) return;
  words.push_back(fmt::format("There is no figure for {}: what {} {} is not known.", listed(gaps),
                              listed(open), open.size() == 1 ? "brings" : "bring"));
}

void add_leave_one_outs(Texts& words, const Walk& walk) {
  auto missed = walk.findings(false, Effect::loses);
  std::ranges::reverse(missed);  // the greatest loss first
  const Texts losses = each(missed, [](const Finding& one) {
    return fmt::format("{} ({} slower)", idea_of(*one.line), times(1 / *one.place->gain));
  });
  if (!losses.empty())
    words.push_back(fmt::format("Taken from v2 alone, {} {} missed{}.", listed(losses),
                                losses.size() == 1 ? "is" : "are",
                                losses.size() == 1 ? "" : ", in this order"));
  if (const auto idle = each(walk.findings(false, Effect::nothing), with_gain); !idle.empty())
    words.push_back(fmt::format("v2 does not miss {}.", listed(idle)));
  if (const auto better = each(walk.findings(false, Effect::gains), with_gain); !better.empty())
    words.push_back(fmt::format("v2 is faster without {}.", listed(better)));
  if (const auto open = each(walk.findings(false, Effect::unsure), with_interval); !open.empty())
    words.push_back(fmt::format("Too imprecise to tell of v2 without {}.", listed(open)));
}

void add_own_tiles(Texts& words, const Walk& walk) {
  const auto& lines = ladder_lines();
  Texts own;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].impl.find('/') == std::string::npos && walk.row(i) && walk.row(i)->ladder &&
        walk.row(i)->ladder->gain)
      own.push_back(fmt::format("{} runs {} as fast as {}", lines[i].impl,
                                times(*walk.row(i)->ladder->gain), lines[i].vs));
  if (!own.empty()) words.push_back(fmt::format("At a tile of its own {}.", listed(own)));
}

}  // namespace

std::vector<std::string> words_of(const LadderRows& ladder, const std::vector<Row>& rows,
                                  const std::string& device) {
  const Walk walk(ladder, rows);
  Texts words;
  add_way(words, walk);
  const std::string here = device.empty() ? "here" : "on " + device;
  add_gains(words, walk, walk.has_gaps() ? "of those known " + here : here);
  add_others(words, walk, here);
  add_gaps(words, walk);
  add_leave_one_outs(words, walk);
  add_own_tiles(words, walk);
  return words;
}

}  // namespace flashbench
