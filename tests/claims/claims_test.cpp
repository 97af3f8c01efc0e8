// A claim holds by the rows that bear it out, and does not by rows that speak against it: each by
// one change to a report in which all of them hold.
#include "claims/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "claims/confirming_report.hpp"

namespace flashbench {
namespace {

using testing::elements;
using ::testing::HasSubstr;
using testing::k;
using testing::n;
using testing::tensor;

Finding finding(const Report& report, const std::string& name) {
  const auto found =
      std::ranges::find_if(claims(), [&](const Claim& claim) { return claim.name == name; });
  if (found == claims().end()) throw std::runtime_error("no claim is called " + name);
  return found->judge(report);
}

using Rows = std::vector<Row*>;
Rows rows_of(Report& report, const std::string& impl, Pass pass = Pass::fwd,
             Mask mask = Mask::full) {
  Rows rows;
  for (Row& row : report.rows)
    if (row.what.impl == impl && row.what.pass == pass && row.what.problem.mask == mask)
      rows.push_back(&row);
  return rows;
}

Row& counted_row(Report& report, const std::string& impl, Pass pass = Pass::fwd,
                 Mask mask = Mask::full) {
  for (Row* row : rows_of(report, impl, pass, mask))
    if (row->counts) return *row;
  throw std::runtime_error("no counts of " + impl);
}

void take(const Rows& rows, double times_as_long) {
  for (Row* row : rows) {
    if (!row->time) continue;
    row->time = testing::time(row->time->median * times_as_long, row->time->median * 0.001);
    *row->tflops /= times_as_long;
    if (row->utilization.peak) *row->utilization.peak /= times_as_long;
  }
}

void fail(Row& row) {
  row.status = Status::failed;
  row.numerics.front().verdict = Verdict::fail;
}

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
    {"as_long_as_full", "causal-half",
     [](Report& r) { take(rows_of(r, "v2", Pass::fwd, Mask::causal), 2); }},
    {"as_much_is_saved", "half-the-statistics",
     [](Report& r) {
       for (Row* row : rows_of(r, "v2")) *row->memory.saved_bytes *= 2;
     }},
    {"v2_divides", "p-from-l",
     [](Report& r) { counted_row(r, "v2", Pass::bwd).counts->divisions = n * n; }},
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
  std::set<std::string> names, refuted;
  for (const Claim& claim : claims()) names.insert(claim.name);
  for (const Refutation& refutation : refutations) refuted.insert(refutation.claim);
  EXPECT_EQ(names, refuted);
  EXPECT_EQ(names.size(), claims().size()) << "two claims have one name";
}

TEST(Claims, CannotBeTestedWithoutRowsAndSayWhy) {
  for (const auto& [claim, finding] : judge_claims(Report{})) {
    EXPECT_EQ(finding.standing, Standing::cannot_be_tested) << claim->name;
    EXPECT_NE(finding.figures, "") << claim->name;
  }
}

// A grid as large as the device: at many heads fewer blocks than heads.
void fill_the_device(Row& row, std::int64_t resident) {
  Launch& launch = row.launches.front();
  launch.blocks = std::min(*launch.blocks, resident);
  launch.waves = static_cast<double>(*launch.blocks) / static_cast<double>(resident);
}

TEST(Claims, OfParallelWorkRestOnTheFewestHeads) {
  Report report = testing::confirming_report();
  for (Row* row : rows_of(report, "v2")) fill_the_device(*row, 48);
  const Finding found = finding(report, "grid");
  EXPECT_EQ(found.standing, Standing::holds);
  EXPECT_EQ(
      found.figures,
      "blocks at 1 head: 2k queries v1 1, v2 16; 8k queries v1 1, v2 48 (which fill the device)");
}

TEST(Claims, OfParallelWorkCannotBeTestedWhereHeadsAloneFillTheDevice) {
  Report report = testing::confirming_report();
  std::erase_if(report.rows, [](const Row& row) { return row.what.problem.heads == 1; });
  for (Row* row : rows_of(report, "v2")) fill_the_device(*row, 16);
  const Finding found = finding(report, "grid");
  EXPECT_EQ(found.standing, Standing::cannot_be_tested);
  EXPECT_THAT(found.figures, HasSubstr("heads alone fill the device: measure fewer"));
}

TEST(Claims, OfFewHeadsShowBothThroughputsOfEach) {
  Report report = testing::confirming_report();
  EXPECT_EQ(finding(report, "few-heads").figures,
            "8k queries, 1 head and 32 heads, 108 processors: v1 4 and 115 TFLOPS (3.5 %); v2 111 "
            "and 222 TFLOPS (50.0 %)");
  for (Row* row : rows_of(report, "v1"))
    if (row->what.problem.heads == 1) *row = testing::without_interval(*row);
  EXPECT_EQ(finding(report, "few-heads").standing, Standing::holds)
      << "three samples, each more than twice as long as would refute it";
}

TEST(Claims, OfRowsThatAreNotOkSayWhatBecameOfThem) {
  Report report = testing::confirming_report();
  for (Row* row : rows_of(report, "pytorch-math")) {
    row->status = Status::unsupported;
    row->reason = "there is no torch";
  }
  EXPECT_THAT(finding(report, "relative-forward").figures,
              HasSubstr("unsupported: there is no torch"));
}

TEST(Claims, AreNotJudgedByRowsOfAnotherBuild) {
  Report report = testing::confirming_report();
  for (Row& row : report.rows) row.what.source = "against:other";
  for (const auto& [claim, finding] : judge_claims(report))
    EXPECT_EQ(finding.standing, Standing::cannot_be_tested) << claim->name;
}

TEST(Claims, OfTimesAreNotJudgedByTheRowsThatCountOnTheCpu) {
  Report report = testing::confirming_report();
  take({&counted_row(report, "v1")}, 1e-6);
  EXPECT_EQ(finding(report, "always-faster").standing, Standing::holds);
}

TEST(Claims, OfAnA100AreNotRefutedByAnotherDevice) {
  Report report = testing::confirming_report();
  report.device.name = "NVIDIA H200";
  EXPECT_EQ(finding(report, "table-tflops").standing, Standing::cannot_be_tested);
}

TEST(Claims, AreNotRefutedByAnIntervalThatReachesIntoTheDocumentsRange) {
  Report report = testing::confirming_report();
  for (Row* row : rows_of(report, "v2", Pass::fwd, Mask::causal)) {
    if (row->counts) continue;
    row->time = testing::time(row->time->median * 1.4, row->time->median * 0.5);
  }
  const Finding found = finding(report, "causal-half");
  EXPECT_EQ(found.standing, Standing::cannot_be_tested);
  EXPECT_THAT(found.figures, HasSubstr("the 95 % interval is too wide to decide"));
}

void take_intervals(Report& report) {
  for (Row& row : report.rows)
    if (row.time) row = testing::without_interval(row);
}

TEST(Claims, AreNotRefutedByTimesWithoutAnInterval) {
  Report report = testing::confirming_report();
  take(rows_of(report, "v1"), 0.4);
  take(rows_of(report, "v2", Pass::fwd, Mask::causal), 3);
  take(rows_of(report, "pytorch-flash"), 3);
  take(rows_of(report, "without/q-outer", Pass::fwd, Mask::causal), 0.6);
  const char* names[] = {"v2-over-v1", "causal-half", "relative-forward", "loop-order-pays",
                         "causes-in-order"};
  for (const char* name : names)
    EXPECT_EQ(finding(report, name).standing, Standing::does_not_hold) << name;
  EXPECT_EQ(finding(report, "always-faster").standing, Standing::does_not_hold);
  take_intervals(report);
  for (const char* name : names) {
    const Finding found = finding(report, name);
    EXPECT_EQ(found.standing, Standing::cannot_be_tested) << name;
    EXPECT_THAT(found.figures, HasSubstr("fewer than six samples of ")) << name;
  }
  const Finding faster = finding(report, "always-faster");
  EXPECT_EQ(faster.standing, Standing::cannot_be_tested);
  EXPECT_THAT(faster.figures, HasSubstr("fewer than six samples of v1 at 1k and 2k and 4k and 8k, "
                                        "v2 at 1k and 2k and 4k and 8k; raise --time-budget"));
}

TEST(Claims, OfTimesAreNotBorneOutByFewSamples) {
  Report report = testing::confirming_report();
  take_intervals(report);
  for (const char* name : {"v1-utilisation", "few-heads", "grid-pays", "causal-half", "v2-over-v1",
                           "always-faster", "relative-forward", "table-tflops", "causes-in-order"})
    EXPECT_EQ(finding(report, name).standing, Standing::cannot_be_tested) << name;
}

void widen(const Rows& rows, double share) {
  for (Row* row : rows) row->time = testing::time(row->time->median, share * row->time->median);
}

TEST(Claims, OfV2OverV1AreDecidedByTheIntervalOfTheirQuotient) {
  Report report = testing::confirming_report();
  const Finding narrow = finding(report, "v2-over-v1");
  EXPECT_EQ(narrow.standing, Standing::holds);
  EXPECT_THAT(narrow.figures, HasSubstr("mean 1.87 (1.85 to 1.90)"));
  widen(rows_of(report, "v1"), 0.1);  // up to 2, which is not about 1.6
  const Finding wide = finding(report, "v2-over-v1");
  EXPECT_EQ(wide.standing, Standing::cannot_be_tested);
  EXPECT_THAT(wide.figures, HasSubstr("the 95 % interval is too wide to decide: "));
  take(rows_of(report, "v1"), 2);
  widen(rows_of(report, "v1"), 0.1);
  EXPECT_EQ(finding(report, "v2-over-v1").standing, Standing::does_not_hold);
}

// As the sentences below a table have it.
TEST(Claims, AreBorneOutByFewSamplesThatEachTookMoreThanTwiceAsLong) {
  Report report = testing::confirming_report();
  const Rows slow = rows_of(report, "v1");
  take(slow, 3);
  for (Row* row : slow) *row = testing::without_interval(*row);
  EXPECT_EQ(finding(report, "always-faster").standing, Standing::holds);
  Row& longest = *slow.at(3);
  longest.time->min = 1.9 * rows_of(report, "v2").at(3)->time->median;
  const Finding found = finding(report, "always-faster");
  EXPECT_EQ(found.standing, Standing::cannot_be_tested);
  EXPECT_THAT(found.figures,
              HasSubstr("fewer than six samples of v1 at 8k; raise --time-budget: "));
}

TEST(Claims, OfAMedianWithoutAnIntervalDoNotBlameTheSamples) {
  Report report = testing::confirming_report();
  for (Row* row : rows_of(report, "v1")) row->time->low = row->time->high = std::nullopt;
  const Finding found = finding(report, "always-faster");
  EXPECT_EQ(found.standing, Standing::cannot_be_tested);
  EXPECT_THAT(found.figures, HasSubstr("the report gives no 95 % interval of v1 at 1k"));
}

TEST(Claims, OfAStepAreNotJudgedBySequencesOfASingleTile) {
  Report report = testing::confirming_report();
  counted_row(report, "v1").counts->traffic.written["statistics"] = 8 * n;
  EXPECT_EQ(finding(report, "o-once").standing, Standing::cannot_be_tested);
}

TEST(Claims, OfXformersCannotBeTestedWithoutIt) {
  Report report = testing::confirming_report();
  std::erase_if(report.rows, [](const Row& row) { return row.what.impl == "pytorch-efficient"; });
  const Finding found = finding(report, "relative-forward");
  EXPECT_EQ(found.standing, Standing::cannot_be_tested);
  EXPECT_THAT(found.figures, HasSubstr("pytorch-efficient n/a"));
}

}  // namespace
}  // namespace flashbench
