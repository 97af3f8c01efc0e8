// v2 against PyTorch's attention, and against itself without one of its ideas.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "claims/findings.hpp"
#include "claims/trial.hpp"
#include "record/document.hpp"

namespace flashbench::findings {

namespace {

constexpr const char* standard = document::relative.front().impl;

// The standard's timed row at the document's shape.
const Row* standard_row(const Report& report, Pass pass) {
  for (const Row* row : timed_rows(report, {standard, pass}))
    if (row->what.problem.seq_q == document::relative_seq &&
        row->what.problem.head_dim == document::relative_head_dim)
      return row;
  return nullptr;
}

Finding relative_to_standard(const Report& report, Pass pass,
                             double document::Relative::*documents) {
  const Row* base = standard_row(report, pass);
  if (!base) return cannot_tell(why_none(report, {standard, pass}));
  Trial trial;
  bool complete = true;
  std::string figures;
  for (const document::Relative& line : document::relative) {
    if (line.impl == std::string_view(standard)) continue;
    std::string ours = "n/a";
    const auto pairs = timed_pairs(report, {standard, pass}, {line.impl, pass});
    const auto pair = std::ranges::find(pairs, base, &RowPair::one);
    if (pair != pairs.end()) {
      const Bounds factor = time_bounds(*base, *pair->other);
      trial.add(factor, near_document(line.*documents), {base, pair->other});
      ours = fmt::format("{:.2f} ({})", time_quotient(*base, *pair->other), shown(factor));
    } else {
      complete = false;
    }
    figures += fmt::format("{}{} {}, document {:.1f}", figures.empty() ? "" : "; ", line.impl, ours,
                           line.*documents);
  }
  const Finding of_those_there = trial.finding(figures);
  const bool holds = of_those_there.standing == Standing::holds;
  return holds && !complete ? cannot_tell("not all were measured: " + figures) : of_those_there;
}

// All ideas at the ladder's tile, and the same without one of them.
constexpr const char* with_all = "ladder/logsumexp";

std::string without(const char* idea) {
  return fmt::format("without/{}", idea);
}

// Of two rungs' rows on one problem; the masked ones have the last word.
std::optional<RowPair> rungs(const Report& report, const std::string& one,
                             const std::string& other) {
  std::optional<RowPair> last;
  for (const Mask mask : {Mask::full, Mask::causal}) {
    const auto pairs = timed_pairs(report, {one, Pass::fwd, mask}, {other, Pass::fwd, mask});
    if (!pairs.empty()) last = pairs.back();
  }
  return last;
}

Finding no_rungs(const std::string& one, const std::string& other) {
  return cannot_tell(fmt::format("no times of {} and {}", one, other));
}

Finding pays(const Report& report, const char* idea) {
  const auto pair = rungs(report, without(idea), with_all);
  if (!pair) return no_rungs(without(idea), with_all);
  const Bounds factor = time_bounds(*pair->one, *pair->other);
  const std::string figures =
      fmt::format("without {}: {:.3f} times as long ({})", idea,
                  time_quotient(*pair->one, *pair->other), shown(factor, 3));
  if (factor.high < 1.01) return stand(false, figures);  // less than 1 % is no gain
  Trial trial;
  trial.add(factor, above(1), {pair->one, pair->other});
  return trial.finding(figures);
}

}  // namespace

Finding relative_forward(const Report& report) {
  return relative_to_standard(report, Pass::fwd, &document::Relative::forward);
}

Finding relative_backward(const Report& report) {
  return relative_to_standard(report, Pass::bwd, &document::Relative::backward);
}

Finding v2_leads_and_xformers_follows(const Report& report) {
  Trial trial;
  std::vector<std::string> lines;
  for (const Pass pass : {Pass::fwd, Pass::bwd}) {
    const Row* slower = standard_row(report, pass);
    if (!slower) return cannot_tell(why_none(report, {standard, pass}));
    std::vector<std::string> times{fmt::format("{} {:.3g} ms", standard, slower->time->median)};
    for (const char* impl : {"v1", "pytorch-efficient", "v2"}) {
      const auto pairs = timed_pairs(report, {slower->what.impl, pass}, {impl, pass});
      const auto pair = std::ranges::find(pairs, slower, &RowPair::one);
      if (pair == pairs.end()) return cannot_tell(why_none(report, {impl, pass}));
      trial.add(time_bounds(*slower, *pair->other), above(1), {slower, pair->other});
      slower = pair->other;
      times.push_back(fmt::format("{} {:.3g}", impl, slower->time->median));
    }
    lines.push_back(fmt::format("{}: {}", name(pass), fmt::join(times, ", ")));
  }
  return trial.finding(fmt::format("{}", fmt::join(lines, "; ")));
}

Finding loop_order_pays(const Report& report) {
  return pays(report, "q-outer");
}

Finding grid_over_q_pays(const Report& report) {
  return pays(report, "grid-over-q");
}

Finding delayed_normalisation_pays(const Report& report) {
  return pays(report, "delayed-normalisation");
}

Finding warps_along_q_pay(const Report& report) {
  return pays(report, "warps-along-q");
}

Finding loop_order_pays_most(const Report& report) {
  std::string figures, last;
  Trial trial;
  for (const char* idea : {"q-outer", "delayed-normalisation", "warps-along-q"}) {
    const auto gain = rungs(report, without(idea), with_all);
    if (!gain) return no_rungs(without(idea), with_all);
    figures += fmt::format("{}without {} {:.3f}", figures.empty() ? "" : ", ", idea,
                           time_quotient(*gain->one, *gain->other));
    if (!last.empty()) {
      const auto order = rungs(report, last, without(idea));
      if (!order) return no_rungs(last, without(idea));
      trial.add(time_bounds(*order->one, *order->other), above(1), {order->one, order->other});
    }
    last = without(idea);
  }
  return trial.finding("times as long: " + figures);
}

}  // namespace flashbench::findings
