// v2 against PyTorch's attention, and against itself without one of its ideas.
#include <fmt/format.h>

#include <algorithm>

#include "claims/findings.hpp"
#include "claims/select.hpp"
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
  bool near = true, far = false, known = true, complete = true;
  std::string figures;
  for (const document::Relative& line : document::relative) {
    if (line.impl == std::string_view(standard)) continue;
    std::string shown = "n/a";
    const auto pairs = timed_pairs(report, {standard, pass}, {line.impl, pass});
    const auto pair = std::ranges::find(pairs, base, &RowPair::one);
    if (pair != pairs.end()) {
      const Ratio factor = time_ratio(*base, *pair->other);
      near = near && near_document(factor.value, line.*documents);
      far = far || far_from_document(factor, line.*documents);
      known = known && factor.has_interval;
      shown = fmt::format("{:.2f}", factor.value);
    } else {
      complete = false;
    }
    figures += fmt::format("{}{} {} (document {:.1f})", figures.empty() ? "" : ", ", line.impl,
                           shown, line.*documents);
  }
  if (far) return stand(false, figures);
  if (!near) return known ? too_noisy(figures) : no_interval(figures);
  return complete ? stand(true, figures) : cannot_tell(figures);
}

// All ideas at the ladder's tile, and the same without one of them.
constexpr const char* with_all = "ladder/logsumexp";

struct Gain {
  std::optional<Ratio> factor;  // without the idea over with it: above 1 where it pays
  std::string why;              // without a factor
};

Gain gain_of(const Report& report, const char* idea) {
  const std::string without = fmt::format("without/{}", idea);
  Gain gain;
  for (const Mask mask : {Mask::full, Mask::causal}) {  // the masked one has the last word
    const auto pairs = timed_pairs(report, {without, Pass::fwd, mask}, {with_all, Pass::fwd, mask});
    if (!pairs.empty()) gain.factor = time_ratio(*pairs.back().one, *pairs.back().other);
  }
  if (!gain.factor) gain.why = fmt::format("no times of {} and {}", without, with_all);
  return gain;
}

std::string shown(const char* idea, const Ratio& factor) {
  std::string text = fmt::format("without {}: {:.3f} times as long", idea, factor.value);
  if (factor.has_interval) text += fmt::format(" ({:.3f} to {:.3f})", factor.low, factor.high);
  return text;
}

Finding pays(const Report& report, const char* idea) {
  const Gain gain = gain_of(report, idea);
  if (!gain.factor) return cannot_tell(gain.why);
  const std::string figures = shown(idea, *gain.factor);
  if (!gain.factor->has_interval) return no_interval(figures);
  if (gain.factor->low > 1) return stand(true, figures);
  return gain.factor->high < 1.01 ? stand(false, figures) : too_noisy(figures);
}

}  // namespace

Finding relative_forward(const Report& report) {
  return relative_to_standard(report, Pass::fwd, &document::Relative::forward);
}

Finding relative_backward(const Report& report) {
  return relative_to_standard(report, Pass::bwd, &document::Relative::backward);
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
  double last = 0;
  bool ordered = true, known = true;
  std::string figures;
  for (const char* idea : {"q-outer", "delayed-normalisation", "warps-along-q"}) {
    const Gain gain = gain_of(report, idea);
    if (!gain.factor) return cannot_tell(gain.why);
    ordered = ordered && (figures.empty() || gain.factor->value <= last);
    known = known && gain.factor->has_interval;
    last = gain.factor->value;
    figures += fmt::format("{}without {} {:.3f}", figures.empty() ? "" : ", ", idea, last);
  }
  figures = "times as long: " + figures;
  return known ? stand(ordered, figures) : no_interval(figures);
}

}  // namespace flashbench::findings
