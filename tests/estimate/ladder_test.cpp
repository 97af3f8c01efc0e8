#include "estimate/ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "record/json.hpp"
#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Optional;

std::vector<Row> with_ladder(std::vector<Row> rows) {
  add_ladder(rows);
  return rows;
}

// All rungs, each twice as fast as the one below but for `logsumexp`, which changes nothing.
std::vector<Row> whole_ladder() {
  std::vector<Row> rows;
  double ms = 64;
  for (const LadderLine& line : ladder_lines()) {
    if (!line.is_rung) break;
    rows.push_back(testing::row(line.impl, line.impl == "ladder/logsumexp" ? ms * 2 : ms));
    ms /= 2;
  }
  return rows;
}

TEST(LadderLines, AreTheRungsInOrderThenTheEndsThenTheLeaveOneOuts) {
  std::vector<std::string> names;
  for (const LadderLine& line : ladder_lines()) names.push_back(line.impl);
  EXPECT_THAT(names, ElementsAre("ladder/v1", "ladder/delayed-normalisation", "ladder/q-outer",
                                 "ladder/grid-over-q", "ladder/warps-along-q", "ladder/causal-skip",
                                 "ladder/logsumexp", "v1", "v2", "without/delayed-normalisation",
                                 "without/q-outer", "without/grid-over-q", "without/warps-along-q",
                                 "without/causal-skip", "without/logsumexp"));
}

TEST(Ladder, HoldsEachRungAgainstTheOneBelow) {
  const std::vector<Row> rows = with_ladder(whole_ladder());
  EXPECT_EQ(rows[0].ladder->vs, "");
  EXPECT_FALSE(rows[0].ladder->gain);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].ladder->vs, rows[i - 1].what.impl);
    EXPECT_THAT(rows[i].ladder->gain, Optional(i == 6 ? 1.0 : 2.0));
  }
}

TEST(Ladder, SharesOfTheWayAddUpToAllOfIt) {
  double sum = 0;
  for (const Row& row : with_ladder(whole_ladder())) sum += row.ladder->share.value_or(0);
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_THAT(with_ladder(whole_ladder())[2].ladder->share, Optional(DoubleNear(0.2, 1e-12)));
}

TEST(Ladder, HasNoShareOfAWayThatLeadsNowhere) {
  std::vector<Row> rows = whole_ladder();
  rows.back() = testing::row("ladder/logsumexp", rows.front().time->median);
  for (const Row& row : with_ladder(rows)) EXPECT_FALSE(row.ladder->share) << row.what.impl;
}

TEST(Ladder, HoldsV2WithoutAnIdeaAgainstTheLastRungAndTheEndsAgainstTheirRungs) {
  std::vector<Row> rows = whole_ladder();  // from 64 to 2 ms
  rows.push_back(testing::row("without/q-outer", 8));
  rows.push_back(testing::row("v1", 32));
  rows.push_back(testing::row("v2", 1));
  rows = with_ladder(rows);
  EXPECT_EQ(rows[7].ladder->vs, "ladder/logsumexp");
  EXPECT_THAT(rows[7].ladder->gain, Optional(0.25));
  EXPECT_EQ(rows[8].ladder->vs, "ladder/v1");
  EXPECT_THAT(rows[8].ladder->gain, Optional(2.0));
  EXPECT_EQ(rows[9].ladder->vs, "ladder/logsumexp");
  EXPECT_THAT(rows[9].ladder->gain, Optional(2.0));
  for (std::size_t i = 7; i < 10; ++i) EXPECT_FALSE(rows[i].ladder->share);
}

TEST(Ladder, HasNoGainNextToARungThatIsMissingOrFailed) {
  std::vector<Row> rows = whole_ladder();
  rows[2].status = Status::failed;
  rows.erase(rows.begin() + 5);
  rows = with_ladder(rows);
  for (const std::size_t i : {2u, 3u, 5u}) EXPECT_FALSE(rows[i].ladder->gain) << rows[i].what.impl;
  EXPECT_TRUE(rows[4].ladder->gain);
  EXPECT_EQ(rows[5].ladder->vs, "ladder/causal-skip");
}

TEST(Ladder, KeepsProblemsPassesAndSourcesApart) {
  std::vector<Row> rows{testing::row("ladder/v1", 4), testing::row("ladder/v1", 100, 0, 8192),
                        testing::row("ladder/delayed-normalisation", 2),
                        testing::row("ladder/delayed-normalisation", 50)};
  rows[3].what.source = "against:old";
  rows = with_ladder(rows);
  EXPECT_THAT(rows[2].ladder->gain, Optional(2.0));
  EXPECT_FALSE(rows[3].ladder->gain);
  EXPECT_EQ(ladders_in(rows).size(), 3u);
}

TEST(Ladder, TakesV1AndV2OnlyWhereARungHasTheirProblem) {
  const std::vector<Row> rows =
      with_ladder({testing::row("v1", 4), testing::row("v2", 2), testing::row("v2", 2, 0, 8192),
                   testing::row("ladder/v1", 4, 0, 8192), testing::row("naive", 4, 0, 8192)});
  EXPECT_FALSE(rows[0].ladder);
  EXPECT_FALSE(rows[1].ladder);
  EXPECT_TRUE(rows[2].ladder);
  EXPECT_FALSE(rows[4].ladder);
}

std::optional<Effect> effect(double gain, double low, double high) {
  LadderPlace place;
  place.gain = gain, place.low = low, place.high = high;
  return effect_of(place);
}

TEST(Effect, IsNothingOnlyWhereTheWholeIntervalLiesWithinOnePercent) {
  EXPECT_EQ(effect(1.5, 1.4, 1.6), Effect::gains);
  EXPECT_EQ(effect(0.7, 0.6, 0.8), Effect::loses);
  EXPECT_EQ(effect(1.001, 0.995, 1.006), Effect::nothing);
  EXPECT_EQ(effect(1.004, 1.003, 1.005), Effect::nothing);
  EXPECT_EQ(effect(1.001, 0.95, 1.05), Effect::unsure);
  EXPECT_EQ(effect(1.05, 0.99, 1.11), Effect::unsure);
  EXPECT_EQ(effect_of({}), std::nullopt);
}

TEST(Ladder, WithoutAnIntervalHasAGainOfWhichNothingIsTold) {
  std::vector<Row> rows = whole_ladder();
  rows[1] = testing::without_interval(rows[1]);
  rows = with_ladder(rows);
  for (const std::size_t beside : {1, 2}) {
    const LadderPlace& place = *rows[beside].ladder;
    EXPECT_TRUE(place.gain) << beside;
    EXPECT_FALSE(place.low || place.high) << beside;
    EXPECT_EQ(effect_of(place), Effect::unsure) << beside;
  }
  EXPECT_TRUE(rows[3].ladder->low);
  EXPECT_TRUE(rows[3].ladder->share);
  rows[0] = testing::without_interval(rows[0]);
  EXPECT_FALSE(with_ladder(rows)[3].ladder->share) << "the whole way has no interval";
}

TEST(Ladder, SurvivesAReportFile) {
  Report report = testing::report(whole_ladder());
  add_ladder(report.rows);
  KernelCost kernel;
  kernel.flops = 8e9;
  kernel.traffic.read["o"] = 3e6;
  kernel.traffic.written["o"] = 4e6;
  report.rows[1].cost = Cost{{kernel}, 0, {}};
  const Json json = to_json(report);
  const Json& written = json["rows"][1]["ladder"];
  EXPECT_EQ(written["vs"], "ladder/v1");
  EXPECT_EQ(written["section"], "3.2");
  EXPECT_EQ(written["gain"], 2.0);
  EXPECT_EQ(written["executed_flops"], 8e9);
  EXPECT_EQ(written["o_bytes"], 7e6);
  EXPECT_EQ(to_json(report_from_json(json)), json);
}

}  // namespace
}  // namespace flashbench
