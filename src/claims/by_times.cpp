// By times, and only as far as their 95 % intervals let them decide.
#include <fmt/format.h>

#include <cmath>

#include "claims/findings.hpp"
#include "claims/trial.hpp"
#include "record/document.hpp"

namespace flashbench::findings {

namespace {

// A rate of this row, as far as its time is known.
Bounds rate_bounds(const Row& row, double rate) {
  const Bounds time = bounds(*row.time);
  const double median = row.time->median;
  return {rate * median / time.high, time.low > 0 ? rate * median / time.low : Bounds{}.high};
}

Finding within_span(const Report& report, const Wanted& wanted, document::Span span) {
  const Rows rows = timed_rows(report, wanted);
  if (rows.empty()) return cannot_tell(why_none(report, wanted));
  Listing percents;
  Trial trial;
  for (const Row* row : rows) {
    const auto share = row->utilization.peak;
    if (!share) return cannot_tell("no datasheet peak is known of this device");
    trial.add(rate_bounds(*row, *share), {span.low - 0.005, span.high + 0.005}, {row});  // whole %
    percents.add(*row, 100 * *share);
  }
  return trial.finding(fmt::format("% of {}'s peak: {}", report.device.name, percents.text()));
}

std::int64_t seq_of(const RowPair& pair) {
  return pair.one->what.problem.seq_q;
}

std::vector<RowPair> v1_and_v2(const Report& report) {
  return timed_pairs(report, v1, v2);
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
  const double share = 1 / static_cast<double>(pairs.size());
  double mean = 1;  // geometric; its ends are those of all quotients at once
  Bounds reach{1, 1};
  Rows rows;
  for (const RowPair& pair : pairs) {
    const double factor = time_quotient(*pair.one, *pair.other);
    const Bounds ends = time_bounds(*pair.one, *pair.other);
    mean *= std::pow(factor, share);
    reach = {reach.low * std::pow(ends.low, share), reach.high * std::pow(ends.high, share)};
    rows.insert(rows.end(), {pair.one, pair.other});
    factors.add(*pair.one, factor);
  }
  Trial trial;
  trial.add(reach, near_document(document::v2_over_v1), rows);
  return trial.finding(
      fmt::format("times as fast as v1: {}; mean {:.2f} ({})", factors.text(), mean, shown(reach)));
}

Finding v2_is_always_faster(const Report& report) {
  const std::vector<RowPair> pairs = v1_and_v2(report);
  if (pairs.empty()) return cannot_tell(why_no_pairs(report, v1, v2));
  Listing lower_ends;
  Trial trial;
  for (const RowPair& pair : pairs) {
    const Bounds factor = time_bounds(*pair.one, *pair.other);
    trial.add(factor, above(1), {pair.one, pair.other});
    lower_ends.add(*pair.one, factor.low > 0 ? std::optional(factor.low) : std::nullopt);
  }
  return trial.finding("times as fast as v1, at least: " + lower_ends.text());
}

Finding throughput_of_the_table(const Report& report) {
  if (report.device.name.find("A100") == std::string::npos)
    return cannot_tell(fmt::format("the table is an A100's, this is {}",
                                   report.device.name.empty() ? "another" : report.device.name));
  Listing of_v1, of_v2;
  Trial trial;
  bool found = false;
  for (const RowPair& pair : v1_and_v2(report))
    for (const document::Throughput& line : document::throughput) {
      if (line.seq != seq_of(pair) || !pair.one->tflops || !pair.other->tflops) continue;
      trial.add(rate_bounds(*pair.one, *pair.one->tflops), near_document(line.v1_tflops),
                {pair.one});
      trial.add(rate_bounds(*pair.other, *pair.other->tflops), near_document(line.v2_tflops),
                {pair.other});
      of_v1.add(*pair.one, *pair.one->tflops);
      of_v2.add(*pair.other, *pair.other->tflops);
      found = true;
    }
  if (!found) return cannot_tell(why_no_pairs(report, v1, v2));
  return trial.finding("TFLOPS of v1: " + of_v1.text() + "; of v2: " + of_v2.text());
}

}  // namespace flashbench::findings
