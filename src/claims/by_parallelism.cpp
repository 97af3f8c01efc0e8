// What can run at once (the document's sections 2.1 and 2.3), and what that is worth where heads
// are few. At many heads a launch says nothing of it: blocks are then as many as the device holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "claims/findings.hpp"
#include "claims/trial.hpp"

namespace flashbench::findings {

namespace {

double blocks_of(const Row& row) {
  return static_cast<double>(row.launches.front().blocks.value_or(0));
}

bool fills_the_device(const Row& row) {
  return std::abs(row.launches.front().waves.value_or(0) - 1) < 1e-9;
}

std::vector<RowPair> launched_pairs(const Report& report) {
  const auto is_launched = [](const Row* row) {
    return row->status == Status::ok && !row->launches.empty() && row->launches.front().blocks;
  };
  std::vector<RowPair> pairs;
  for (const Row* one : rows_of(report, v1) | std::views::filter(is_launched))
    for (const Row* other : rows_of(report, v2) | std::views::filter(is_launched))
      if (one->what.problem == other->what.problem) pairs.push_back({one, other});
  return pairs;
}

// Those of the fewest heads, and of these of one head dimension, by length.
std::vector<RowPair> narrowest(std::vector<RowPair> pairs) {
  const auto heads = [](const RowPair& pair) { return heads_of(pair.one->what.problem); };
  const auto seq = [](const RowPair& pair) { return pair.one->what.problem.seq_q; };
  const double fewest = heads(*std::ranges::min_element(pairs, {}, heads));
  std::erase_if(pairs, [&](const RowPair& pair) { return heads(pair) != fewest; });
  const std::int64_t head_dim =
      std::ranges::max_element(pairs, {}, seq)->one->what.problem.head_dim;
  std::erase_if(pairs,
                [&](const RowPair& pair) { return pair.one->what.problem.head_dim != head_dim; });
  std::ranges::stable_sort(pairs, {}, seq);
  return pairs;
}

// The same problem with the fewest heads, and with fewer than there are processors.
const Row* narrower(const Report& report, const Row& wide) {
  const auto processors = static_cast<double>(report.device.multiprocessors.value_or(0));
  const Row* narrowest = nullptr;
  for (const Row* row : rows_of(report, {wide.what.impl})) {
    const Problem &few = row->what.problem, &all = wide.what.problem;
    if (row->status == Status::ok && row->time && row->time->median > 0 && few.seq_q == all.seq_q &&
        few.seq_k == all.seq_k && few.head_dim == all.head_dim && few.dtype == all.dtype &&
        heads_of(few) < heads_of(all) && heads_of(few) < processors &&
        (!narrowest || heads_of(few) < heads_of(narrowest->what.problem)))
      narrowest = row;
  }
  return narrowest;
}

std::string counted_heads(const Row& row) {
  const double heads = heads_of(row.what.problem);
  return fmt::format("{:g} head{}", heads, heads == 1 ? "" : "s");
}

double tflops_of(const Row& row) {
  return row.flops.counted / row.time->median / 1e9;
}

// Few heads' share of the throughput at many.
struct Kept {
  double value;
  Bounds reach;
};
Kept kept(const Row& few, const Row& many) {
  const double flops = few.flops.counted / many.flops.counted;
  const Bounds times = time_bounds(many, few);
  return {flops * time_quotient(many, few), {flops * times.low, flops * times.high}};
}

std::string shown(const char* impl, const Row& few, const Row& many) {
  return fmt::format("{} {:.3g} and {:.3g} TFLOPS ({:.1f} %)", impl, tflops_of(few),
                     tflops_of(many), 100 * kept(few, many).value);
}

}  // namespace

Finding tiles_are_parallel_work(const Report& report) {
  const std::vector<RowPair> all = launched_pairs(report);
  if (all.empty()) return cannot_tell("no problem has launches of both v1 and v2");
  const auto has_a_block_a_head = [](const RowPair& pair) {
    return blocks_of(*pair.one) == heads_of(pair.one->what.problem);
  };
  const std::vector<RowPair> few = narrowest(all);
  const RowPair &shortest = few.front(), &longest = few.back();
  const double heads = heads_of(longest.one->what.problem), blocks = blocks_of(*longest.other);
  const bool full = fills_the_device(*longest.other);
  std::vector<std::string> lines;
  for (const RowPair* pair : {&shortest, &longest})
    if (pair == &shortest || shortest.one != longest.one)
      lines.push_back(
          fmt::format("{} queries v1 {:g}, v2 {:g}{}", tokens(pair->one->what.problem.seq_q),
                      blocks_of(*pair->one), blocks_of(*pair->other),
                      fills_the_device(*pair->other) ? " (which fill the device)" : ""));
  const std::string figures =
      fmt::format("blocks at {}: {}", counted_heads(*longest.one), fmt::join(lines, "; "));
  if (!std::ranges::all_of(all, has_a_block_a_head)) return stand(false, figures);
  if (blocks <= heads && full)
    return cannot_tell("heads alone fill the device: measure fewer (--batch 1 --heads 1): " +
                       figures);
  const bool grows = full || shortest.one->what.problem.seq_q == longest.one->what.problem.seq_q ||
                     blocks > blocks_of(*shortest.other);
  return stand(blocks > heads && grows, figures);
}

// v1's share over v2's: 1 where v1 needs no more heads than v2.
Finding few_heads_starve_v1(const Report& report) {
  const std::vector<RowPair> many = timed_pairs(report, v1, v2);
  if (many.empty()) return cannot_tell(why_no_pairs(report, v1, v2));
  for (const RowPair& all : std::views::reverse(many)) {  // the longest first
    const Row *few_v1 = narrower(report, *all.one), *few_v2 = narrower(report, *all.other);
    if (!few_v1 || !few_v2) continue;
    const Bounds of_v1 = kept(*few_v1, *all.one).reach, of_v2 = kept(*few_v2, *all.other).reach;
    Trial trial;
    trial.add({of_v1.low / of_v2.high, of_v2.low > 0 ? of_v1.high / of_v2.low : Bounds{}.high},
              below(0.8), {few_v1, all.one, few_v2, all.other});
    return trial.finding(fmt::format(
        "{} queries, {} and {}, {} processors: {}; {}", tokens(all.one->what.problem.seq_q),
        counted_heads(*few_v1), counted_heads(*all.one), report.device.multiprocessors.value_or(0),
        shown("v1", *few_v1, *all.one), shown("v2", *few_v2, *all.other)));
  }
  return cannot_tell("no length was measured with fewer heads than there are processors");
}

}  // namespace flashbench::findings
