// A claim holds by the rows that bear it out, and does not by rows that speak against it: each by
// one change to a report in which all of them hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "claims/changes.hpp"

namespace flashbench {
namespace {

using testing::count_times;
using testing::counted_row;
using testing::elements;
using testing::fail;
using testing::finding;
using testing::n;
using testing::rows_of;
using testing::take;
using testing::tensor;

struct Refutation {
  const char *name, *claim;
  void (*change)(Report&);
};

class AClaim : public ::testing::TestWithParam<Refutation> {};
TEST_P(AClaim, DoesNotHoldByRowsThatSpeakAgainstIt) {
  Report report = testing::confirming_report();
  const Finding before = finding(report, GetParam().claim);
  EXPECT_EQ(before.standing, Standing::holds) << before.figures;
  GetParam().change(report);
  const Finding after = finding(report, GetParam().claim);
  EXPECT_EQ(after.standing, Standing::does_not_hold) << after.figures;
}

const Refutation refutations[] = {
    {"slow_v1", "v1-utilisation", [](Report& r) { take(rows_of(r, "v1"), 2); }},
    {"fast_v1", "v1-utilisation", [](Report& r) { take(rows_of(r, "v1"), 0.5); }},
    {"slow_memory", "compute-bound", [](Report& r) { r.ceilings.back().rate = 1e10; }},
    {"v2_moves_more", "extra-traffic",
     [](Report& r) { count_times(r, "v2", counters::dram_read, 4); }},
    {"v1_as_busy", "tensor-idle",
     [](Report& r) { count_times(r, "v1", counters::tensor_percent, 2); }},
    {"slower_memory", "a100-numbers", [](Report& r) { r.device.peak_gbps = 1555; }},
    {"less_shared_memory", "a100-numbers",
     [](Report& r) { r.device.shared_bytes_per_multiprocessor = 96 * 1024; }},
    {"two_warps", "warps-a-block",
     [](Report& r) {
       for (Row* row : rows_of(r, "v2")) row->launches.front().threads = 64;
     }},
    {"v2_waits_as_long", "waits-and-shares",
     [](Report& r) { count_times(r, "v2", counters::barrier_percent, 2); }},
    {"v2_shares_as_much", "waits-and-shares",
     [](Report& r) { count_times(r, "v2", counters::shared_wavefronts, 2); }},
    {"warps_cost_most", "causes-in-order",
     [](Report& r) { take(rows_of(r, "without/warps-along-q", Pass::fwd, Mask::causal), 2); }},
    {"one_head_is_enough", "few-heads",
     [](Report& r) {
       for (Row* row : rows_of(r, "v1"))
         if (row->what.problem.batch * row->what.problem.heads == 1 && !row->counts)
           take({row}, 0.05);
     }},
    {"v2_reads_o", "o-once",
     [](Report& r) { counted_row(r, "v2").counts->traffic.read["o"] = tensor; }},
    {"v1_keeps_o", "o-once", [](Report& r) { counted_row(r, "v1").counts->traffic.read["o"] = 0; }},
    {"v1_has_blocks_along_q", "grid",
     [](Report& r) {
       for (Row* row : rows_of(r, "v1")) *row->launches.front().blocks *= 2;
     }},
    {"v2_has_not", "grid",
     [](Report& r) {
       for (Row* row : rows_of(r, "v2"))
         row->launches.front().blocks = row->what.problem.batch * row->what.problem.heads;
     }},
    {"v2_has_as_many_for_more_queries", "grid",
     [](Report& r) {
       for (Row* row : rows_of(r, "v2")) row->launches.front().blocks = 16 * 1024;
     }},
    {"no_gain", "grid-pays",
     [](Report& r) { take(rows_of(r, "without/grid-over-q", Pass::fwd, Mask::causal), 0.3); }},
    {"v2_loads_q_again", "q-once",
     [](Report& r) { counted_row(r, "v2").counts->traffic.read["q"] *= 2; }},
    {"small_q_tiles", "o-outweighs-kv",
     [](Report& r) {
       for (const char* operand : {"k", "v"})
         counted_row(r, "v2").counts->traffic.read[operand] = 8 * tensor;
     }},
    {"v2_reads_m_and_l", "tiles-independent",
     [](Report& r) { counted_row(r, "v2").counts->traffic.read["statistics"] = 8 * n; }},
    {"no_gain", "loop-order-pays",
     [](Report& r) { take(rows_of(r, "without/q-outer", Pass::fwd, Mask::causal), 0.6); }},
    {"wrong_o", "delayed-exact",
     [](Report& r) {
       for (Row* row : rows_of(r, "v2")) fail(*row);
     }},
    {"v2_divides_in_each_step", "two-divisions",
     [](Report& r) { counted_row(r, "v2").counts->divisions *= 4; }},
    {"v2_corrects_where_m_grows", "one-multiplication",
     [](Report& r) { counted_row(r, "v2").counts->corrections = elements; }},
    {"v2_divides_twice", "one-division",
     [](Report& r) { counted_row(r, "v2").counts->divisions *= 2; }},
    {"as_much_at_half_the_length", "savings-add-up",
     [](Report& r) {
       for (Row* row : rows_of(r, "v1"))
         if (row->counts && row->what.problem.seq_q < testing::counted_seq)
           row->counts->divisions *= 4;
     }},
    {"no_gain", "delayed-pays",
     [](Report& r) {
       take(rows_of(r, "without/delayed-normalisation", Pass::fwd, Mask::causal), 0.7);
     }},
    {"v2_merges", "no-merges", [](Report& r) { counted_row(r, "v2").counts->merges = n; }},
    {"v1_merges_nothing", "no-merges", [](Report& r) { counted_row(r, "v1").counts->merges = 0; }},
    {"v2_waits_more", "no-waits", [](Report& r) { counted_row(r, "v2").counts->barriers *= 2; }},
    {"no_gain", "warps-pay",
     [](Report& r) { take(rows_of(r, "without/warps-along-q", Pass::fwd, Mask::causal), 0.8); }},
    {"v1_skips", "masked-half",
     [](Report& r) { counted_row(r, "v1", Pass::fwd, Mask::causal).counts->flops *= 0.6; }},
    {"v2_skips_nothing", "block-skip",
     [](Report& r) { counted_row(r, "v2", Pass::fwd, Mask::causal).counts->flops /= 0.53; }},
    {"v2_skips_too_much", "block-skip",
     [](Report& r) { counted_row(r, "v2", Pass::fwd, Mask::causal).counts->flops *= 0.9; }},
    {"wrong_o", "block-skip",
     [](Report& r) { fail(counted_row(r, "v2", Pass::fwd, Mask::causal)); }},
    {"wrong_o", "causal-exact",
     [](Report& r) {
       for (Row* row : rows_of(r, "v1", Pass::fwd, Mask::causal)) fail(*row);
     }},
    {"half_as_long", "masked-time",
     [](Report& r) { take(rows_of(r, "v1", Pass::fwd, Mask::causal), 0.5); }},
    {"every_tile_is_read", "early-exit",
     [](Report& r) {
       counted_row(r, "v2", Pass::fwd, Mask::causal).counts->traffic.read["k"] =
           testing::steps * tensor;
     }},
    {"wrong_l", "logsumexp",
     [](Report& r) {
       for (Row* row : rows_of(r, "v2")) row->numerics.back().verdict = Verdict::fail;
     }},
    {"as_long_as_full", "causal-half",
     [](Report& r) { take(rows_of(r, "v2", Pass::fwd, Mask::causal), 2); }},
    {"as_much_is_saved", "half-the-statistics",
     [](Report& r) {
       for (Row* row : rows_of(r, "v2")) *row->memory.saved_bytes *= 2;
     }},
    {"v2_divides", "p-from-l",
     [](Report& r) { counted_row(r, "v2", Pass::bwd).counts->divisions = n * n; }},
    {"v1_reads_k_again", "kv-outside",
     [](Report& r) { counted_row(r, "v1", Pass::bwd).counts->traffic.read["k"] *= 4; }},
    {"v2_reads_q_once", "kv-outside",
     [](Report& r) { counted_row(r, "v2", Pass::bwd).counts->traffic.read["q"] = tensor; }},
    {"half_of_o", "d-short",
     [](Report& r) { counted_row(r, "v2", Pass::bwd).counts->traffic.read["o"] /= 2; }},
    {"dk_is_read_again", "dk-dv-one-block",
     [](Report& r) { counted_row(r, "v2", Pass::bwd).counts->traffic.read["dk"] = tensor; }},
    {"dv_is_written_twice", "dk-dv-one-block",
     [](Report& r) { counted_row(r, "v2", Pass::bwd).counts->traffic.written["dv"] *= 2; }},
    {"dq_stays", "dq-across-blocks",
     [](Report& r) {
       Traffic& traffic = counted_row(r, "v2", Pass::bwd).counts->traffic;
       traffic.read["dq"] = 0;
       traffic.written["dq"] = tensor;
     }},
    {"wrong_dq_by_o", "d-identity", [](Report& r) { fail(counted_row(r, "v2", Pass::bwd)); }},
    {"wrong_dq_by_p", "d-identity", [](Report& r) { fail(counted_row(r, "naive", Pass::bwd)); }},
    {"v2_reads_o_again", "d-once",
     [](Report& r) { counted_row(r, "v2", Pass::bwd).counts->traffic.read["o"] *= 4; }},
    {"slow_v2", "v2-utilisation", [](Report& r) { take(rows_of(r, "v2"), 1.5); }},
    {"slow_v2", "table-tflops", [](Report& r) { take(rows_of(r, "v2"), 1.5); }},
    {"v1_wins", "always-faster", [](Report& r) { take(rows_of(r, "v1"), 0.4); }},
    {"v1_is_as_fast", "v2-over-v1", [](Report& r) { take(rows_of(r, "v1"), 0.55); }},
    {"v1_beats_xformers", "order", [](Report& r) { take(rows_of(r, "v1", Pass::bwd), 0.8); }},
    {"slow_v2", "relative-forward", [](Report& r) { take(rows_of(r, "v2"), 2); }},
    {"slow_v1", "relative-backward", [](Report& r) { take(rows_of(r, "v1", Pass::bwd), 2); }},
    {"v2_grows_as_the_square", "memory-growth",
     [](Report& r) {
       for (Row* row : rows_of(r, "v2", Pass::fwd_bwd)) {
         const std::int64_t seq = row->what.problem.seq_q;
         row->memory.workspace_bytes = seq * seq;
       }
     }},
    {"naive_does_not", "memory-growth",
     [](Report& r) {
       for (Row* row : rows_of(r, "naive", Pass::fwd_bwd))
         row->memory.workspace_bytes = row->what.problem.seq_q;
     }},
    {"it_fits", "standard-oom",
     [](Report& r) { rows_of(r, "naive", Pass::fwd_bwd).back()->status = Status::ok; }},
};
INSTANTIATE_TEST_SUITE_P(Claims, AClaim, ::testing::ValuesIn(refutations), [](const auto& info) {
  std::string name = std::string(info.param.claim) + "_" + info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Claims, EachHasATestInWhichItDoesNotHold) {
  std::set<std::string> names, refuted{"memory-table"};  // of a shape that the document keeps
  for (const Claim& claim : claims()) names.insert(claim.name);
  for (const Refutation& refutation : refutations) refuted.insert(refutation.claim);
  EXPECT_EQ(names, refuted);
  EXPECT_EQ(names.size(), claims().size()) << "two claims have one name";
}

}  // namespace
}  // namespace flashbench
