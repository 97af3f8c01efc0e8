// By times. A quotient of two medians decides only as far as its 95 % interval lets it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "claims/findings.hpp"
#include "claims/select.hpp"
#include "record/document.hpp"

namespace flashbench::findings {

namespace {

constexpr Wanted v2_causal{"v2", Pass::fwd, Mask::causal};

std::string tokens(std::int64_t seq) {
  return seq % 1024 == 0 ? fmt::format("{}k", seq / 1024) : std::to_string(seq);
}

// "1k 1.23, 2k 1.34", in the order in which they come; with head dimensions where there are
// several.
class Listing {
 public:
  void add(const Row& row, std::optional<double> figure) {
    const Problem& problem = row.what.problem;
    std::string& line = by_head_dim_[problem.head_dim];
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", tokens(problem.seq_q),
                        figure ? fmt::format("{:.2f}", *figure) : "n/a");
  }
  std::string text() const {
    if (by_head_dim_.size() == 1) return by_head_dim_.begin()->second;
    std::string all;
    for (const auto& [head_dim, line] : by_head_dim_)
      all += fmt::format("{}d {}: {}", all.empty() ? "" : "; ", head_dim, line);
    return all;
  }

 private:
  std::map<std::int64_t, std::string> by_head_dim_;
};

// A figure of ours against the document's: 20 % apart at most holds. It is refuted only where its
// whole interval is further off.
Finding against_document(const Ratio& ours, double documents, const std::string& figures) {
  if (near_document(ours.value, documents)) return stand(true, figures);
  if (!ours.has_interval) return no_interval(figures);
  if (far_from_document(ours, documents)) return stand(false, figures);
  return too_noisy(fmt::format("{:.2f} to {:.2f}: {}", ours.low, ours.high, figures));
}

Finding within_span(const Report& report, const Wanted& wanted, document::Span span) {
  const Rows rows = timed_rows(report, wanted);
  if (rows.empty()) return cannot_tell(why_none(report, wanted));
  Listing percents;
  bool within = true;
  for (const Row* row : rows) {
    const auto share = row->utilization.peak;
    if (!share) return cannot_tell("no datasheet peak is known of this device");
    within = within && *share >= span.low && *share <= span.high;
    percents.add(*row, 100 * *share);
  }
  return stand(within, fmt::format("% of {}'s peak: {}", report.device.name, percents.text()));
}

std::int64_t seq_of(const RowPair& pair) {
  return pair.one->what.problem.seq_q;
}

std::vector<RowPair> v1_and_v2(const Report& report) {
  return timed_pairs(report, v1, v2);
}

std::string why_no_pairs(const Report& report, const Wanted& one, const Wanted& other) {
  if (timed_rows(report, one).empty()) return why_none(report, one);
  if (timed_rows(report, other).empty()) return why_none(report, other);
  return fmt::format("no problem was measured by both {} and {}", described(one), described(other));
}

// The same problem with fewer heads, and with fewer than there are processors.
const Row* narrower(const Report& report, const Row& wide) {
  const auto processors = static_cast<double>(report.device.multiprocessors.value_or(0));
  for (const Row* row : rows_of(report, {wide.what.impl})) {
    const Problem &few = row->what.problem, &all = wide.what.problem;
    if (row->status == Status::ok && row->time && row->time->median > 0 && few.seq_q == all.seq_q &&
        few.seq_k == all.seq_k && few.head_dim == all.head_dim && few.dtype == all.dtype &&
        heads_of(few) < heads_of(all) && heads_of(few) < processors)
      return row;
  }
  return nullptr;
}

}  // namespace

Finding v1_utilization(const Report& report) {
  return within_span(report, v1, document::v1_utilization);
}

Finding v2_utilization(const Report& report) {
  return within_span(report, v2, document::v2_utilization);
}

Finding v2_over_v1(const Report& report) {
  const std::vector<RowPair> pairs = v1_and_v2(report);
  if (pairs.empty()) return cannot_tell(why_no_pairs(report, v1, v2));
  Listing factors;
  Ratio mean;  // geometric
  const double share = 1 / static_cast<double>(pairs.size());
  for (const RowPair& pair : pairs) {
    const Ratio factor = time_ratio(*pair.one, *pair.other);
    mean.value *= std::pow(factor.value, share);
    mean.low *= std::pow(factor.low, share);
    mean.high *= std::pow(factor.high, share);
    mean.has_interval = mean.has_interval && factor.has_interval;
    factors.add(*pair.one, factor.value);
  }
  return against_document(
      mean, document::v2_over_v1,
      fmt::format("times as fast as v1: {}; mean {:.2f}", factors.text(), mean.value));
}

Finding v2_is_always_faster(const Report& report) {
  const std::vector<RowPair> pairs = v1_and_v2(report);
  if (pairs.empty()) return cannot_tell(why_no_pairs(report, v1, v2));
  Listing lower_ends;
  bool faster = true, unsure = false;
  for (const RowPair& pair : pairs) {
    const Ratio factor = time_ratio(*pair.one, *pair.other);
    lower_ends.add(*pair.one, factor.has_interval ? std::optional(factor.low) : std::nullopt);
    faster = faster && (factor.high > 1 || !factor.has_interval);
    unsure = unsure || (factor.low <= 1 && factor.high > 1) || !factor.has_interval;
  }
  const std::string figures = "lower end of the 95 % interval: " + lower_ends.text();
  return faster && unsure ? too_noisy(figures) : stand(faster, figures);
}

Finding throughput_of_the_table(const Report& report) {
  if (report.device.name.find("A100") == std::string::npos)
    return cannot_tell(fmt::format("the table is an A100's, this is {}",
                                   report.device.name.empty() ? "another" : report.device.name));
  Listing of_v1, of_v2;
  bool near = true, found = false;
  for (const RowPair& pair : v1_and_v2(report))
    for (const document::Throughput& line : document::throughput) {
      if (line.seq != seq_of(pair) || !pair.one->tflops || !pair.other->tflops) continue;
      near = near && near_document(*pair.one->tflops, line.v1_tflops) &&
             near_document(*pair.other->tflops, line.v2_tflops);
      of_v1.add(*pair.one, *pair.one->tflops);
      of_v2.add(*pair.other, *pair.other->tflops);
      found = true;
    }
  if (!found) return cannot_tell(why_no_pairs(report, v1, v2));
  return stand(near, "TFLOPS of v1: " + of_v1.text() + "; of v2: " + of_v2.text());
}

// How much of the throughput at many heads few of them keep, v1's over v2's: 1 where v1 needs no
// more heads than v2. FLOPs fall out.
Finding few_heads_starve_v1(const Report& report) {
  const std::vector<RowPair> many = v1_and_v2(report);
  for (const RowPair& all : std::views::reverse(many)) {  // the longest first
    const Row *few_v1 = narrower(report, *all.one), *few_v2 = narrower(report, *all.other);
    if (!few_v1 || !few_v2) continue;
    const Ratio of_v1 = time_ratio(*all.one, *few_v1), of_v2 = time_ratio(*all.other, *few_v2);
    const double flops = few_v1->flops.counted / all.one->flops.counted;
    const std::string figures = fmt::format(
        "TFLOPS at {:g} x {} instead of {:g} heads: v1 {:.0f} %, v2 {:.0f} %",
        heads_of(few_v1->what.problem), tokens(seq_of(all)), heads_of(all.one->what.problem),
        100 * flops * of_v1.value, 100 * flops * of_v2.value);
    if (of_v1.value < 0.8 * of_v2.value) return stand(true, figures);
    if (!of_v1.has_interval || !of_v2.has_interval) return no_interval(figures);
    return of_v1.low < 0.8 * of_v2.high ? too_noisy(figures) : stand(false, figures);
  }
  return cannot_tell("no length was measured with fewer heads than there are processors");
}

Finding causal_takes_half_the_time(const Report& report) {
  const std::vector<RowPair> pairs = timed_pairs(report, v2, v2_causal);
  if (pairs.empty()) return cannot_tell(why_no_pairs(report, v2, v2_causal));
  Listing factors;
  for (const RowPair& pair : pairs)
    factors.add(*pair.one, time_ratio(*pair.one, *pair.other).value);
  return against_document(time_ratio(*pairs.back().one, *pairs.back().other), 2,
                          "time of full over causal: " + factors.text());
}

}  // namespace flashbench::findings
