// What claims are judged by, and what they say where that is missing.
#include "claims/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "claims/changes.hpp"

namespace flashbench {
namespace {

using testing::counted_row;
using testing::finding;
using ::testing::HasSubstr;
using testing::n;
using testing::rows_of;
using testing::tensor;

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
  report.device.name = "NVIDIA H200";  // an A100 is one whatever the rows
  for (const auto& [claim, finding] : judge_claims(report))
    EXPECT_EQ(finding.standing, Standing::cannot_be_tested) << claim->name;
}

TEST(Claims, OfAnA100AreNotRefutedByAnotherDevice) {
  Report report = testing::confirming_report();
  report.device.name = "NVIDIA H200";
  EXPECT_EQ(finding(report, "table-tflops").standing, Standing::cannot_be_tested);
}

// As the sentences below a table have it.
TEST(Claims, OfAStepAreNotJudgedBySequencesOfASingleTile) {
  Report report = testing::confirming_report();
  counted_row(report, "v1").counts->traffic.written["statistics"] = 8 * n;
  EXPECT_EQ(finding(report, "o-once").standing, Standing::cannot_be_tested);
}

TEST(Claims, OfHardwareSayWhyThereAreNoCounters) {
  Report report = testing::confirming_report();
  for (Row& row : report.rows) row.measured.clear();
  EXPECT_THAT(finding(report, "tensor-idle").figures, HasSubstr("measure with --counters"));
  rows_of(report, "v1").front()->uncounted = "not permitted: ask the administrator";
  for (const char* name : {"extra-traffic", "tensor-idle", "waits-and-shares"}) {
    const Finding found = finding(report, name);
    EXPECT_EQ(found.standing, Standing::cannot_be_tested) << name;
    EXPECT_THAT(found.figures, HasSubstr("not permitted: ask the administrator")) << name;
  }
  report.device.backend = Backend::cpu;
  EXPECT_THAT(finding(report, "tensor-idle").figures, HasSubstr("a GPU's"));
}

TEST(Claims, OfAShapeThatTheDocumentKeepsCannotBeTested) {
  const Finding found = finding(testing::confirming_report(), "memory-table");
  EXPECT_EQ(found.standing, Standing::cannot_be_tested);
  EXPECT_THAT(found.figures, HasSubstr("--config document-memory"));
}

TEST(Claims, FollowTheSectionsOfTheDocument) {
  std::string last;
  for (const Claim& claim : claims()) {
    const std::string section = std::string(claim.section).substr(0, 1);
    EXPECT_GE(section, last) << claim.name;
    last = section;
  }
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
