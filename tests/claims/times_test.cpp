// Claims on times are decided by intervals alone, and say where there are none.
#include "claims/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "claims/changes.hpp"

namespace flashbench {
namespace {

using testing::counted_row;
using testing::finding;
using ::testing::HasSubstr;
using testing::MutableRows;
using testing::rows_of;
using testing::take;
using testing::take_intervals;
using testing::widen;

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

TEST(Claims, OfTimesAreNotJudgedByTheRowsThatCountOnTheCpu) {
  Report report = testing::confirming_report();
  take({&counted_row(report, "v1")}, 1e-6);
  EXPECT_EQ(finding(report, "always-faster").standing, Standing::holds);
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

TEST(Claims, AreBorneOutByFewSamplesThatEachTookMoreThanTwiceAsLong) {
  Report report = testing::confirming_report();
  const MutableRows slow = rows_of(report, "v1");
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

}  // namespace
}  // namespace flashbench
