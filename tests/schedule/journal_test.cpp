#include "schedule/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;

Row row_of(const std::string& impl, Status status) {
  Row row;
  row.what = fake_case(impl);
  row.status = status;
  if (status == Status::ok) {
    row.time = Time{};
    row.time->median = 1;
    row.time->samples = {{1, 0}};
    row.numerics.emplace_back().tensor = "o";
  }
  return row;
}

TEST(Journal, GivesBackWholeRowsAndLeavesOutATornOne) {
  const Folder folder;
  const std::string path = folder / "rows";
  {
    Journal journal(path);
    journal.append(row_of("a", Status::ok));
    journal.append(row_of("b", Status::oom));
  }
  std::ofstream(path, std::ios::app) << "{\"key\": \"torn";
  const auto rows = read_journal(path);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].what.impl, "a");
  EXPECT_EQ(rows[1].status, Status::oom);
}

TEST(Journal, IsGoneWhenDiscarded) {
  const Folder folder;
  Journal journal(folder / "rows");
  journal.discard();
  EXPECT_FALSE(std::filesystem::exists(folder / "rows"));
  EXPECT_TRUE(read_journal(folder / "rows").empty());
}

TEST(Journal, KeepsWhatItHoldsUntilItBegins) {
  const Folder folder;
  const std::string path = folder / "rows";
  { Journal(path).append(row_of("a", Status::ok)); }
  { const Journal untouched(path); }
  EXPECT_EQ(read_journal(path).size(), 1u);
  Journal(path).begin();
  EXPECT_FALSE(std::filesystem::exists(path)) << "an empty one is of no use";
}

TEST(Journal, BelongsToOneAtATime) {
  const Folder folder;
  const std::string path = folder / "rows";
  {
    Journal mine(path);
    mine.append(row_of("a", Status::ok));
    try {
      Journal yours(path);
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
    EXPECT_EQ(read_journal(path).size(), 1u);
  }
  EXPECT_NO_THROW(Journal{path});
}

TEST(Journal, NamesAFileThatCannotBeOpened) {
  try {
    Journal journal("/nowhere/rows");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/rows"));
  }
}

TEST(Resume, RunsCrashedTimedOutAndNotRunRowsAgain) {
  Report earlier;
  for (const Status status : {Status::ok, Status::failed, Status::unsupported, Status::oom,
                              Status::crashed, Status::timeout, Status::not_run})
    earlier.rows.push_back(row_of(std::string(name(status)), status));
  EXPECT_EQ(resumable_rows(earlier, Report{}).size(), 4u);
}

TEST(Resume, RefusesAnotherDeviceBuildOrSeed) {
  const Report now;
  Report earlier;
  earlier.device.uuid = "GPU-1";
  EXPECT_THROW(resumable_rows(earlier, now), UsageError);
  earlier = {};
  earlier.tool_commit = "abc";
  EXPECT_THROW(resumable_rows(earlier, now), UsageError);
  earlier = {};
  earlier.measurement.seed = 7;
  EXPECT_THROW(resumable_rows(earlier, now), UsageError);
}

TEST(Resume, RefusesRowsCheckedOrCountedOtherwise) {
  Report earlier;
  earlier.measurement.check = "none";
  EXPECT_THROW(resumable_rows(earlier, Report{}), UsageError);
  earlier = {};
  earlier.measurement.iters = 7;
  EXPECT_THROW(resumable_rows(earlier, Report{}), UsageError);
}

TEST(Resume, RunsOkRowsWithoutSamplesOrChecksAgain) {
  const auto kept = [](const char* check, auto damage) {
    Report earlier;
    earlier.measurement.check = check;
    const Report now = earlier;
    earlier.rows.push_back(row_of("a", Status::ok));
    damage(earlier.rows[0]);
    return resumable_rows(earlier, now).size();
  };
  const auto untimed = [](Row& row) { row.time.reset(); };
  const auto sampleless = [](Row& row) { row.time->samples.clear(); };
  const auto timeless = [](Row& row) { row.time->median = 0; };
  const auto unchecked = [](Row& row) { row.numerics.clear(); };
  for (const char* check : {"full", "none"}) {
    EXPECT_EQ(kept(check, untimed), 0u) << check;
    EXPECT_EQ(kept(check, sampleless), 0u) << check;
    EXPECT_EQ(kept(check, timeless), 0u) << check;
  }
  EXPECT_EQ(kept("full", unchecked), 0u);
  EXPECT_EQ(kept("none", unchecked), 1u);
  EXPECT_EQ(kept("only", untimed), 1u) << "nothing was to be timed";
  EXPECT_EQ(kept("only", unchecked), 0u);
}

TEST(Resume, RunsLoadedRowsAgainUnlessTheySayWhatTheyLoaded) {
  Report earlier;
  earlier.rows.push_back(row_of("a", Status::ok));
  EXPECT_EQ(resumable_rows(earlier, Report{}).size(), 1u);
  earlier.rows[0].what.problem.init = Init::loaded;
  EXPECT_TRUE(resumable_rows(earlier, Report{}).empty());
  earlier.rows[0].inputs_checksum = {"1-2-3", "1-2-3"};
  EXPECT_EQ(resumable_rows(earlier, Report{}).size(), 1u);
}

TEST(Resume, RunsRowsAgainWhoseKeyIsNotOurs) {
  Report earlier;
  earlier.rows.push_back(row_of("a", Status::ok));
  earlier.rows[0].recorded_key = "another way to name it";
  EXPECT_TRUE(resumable_rows(earlier, Report{}).empty());
}

TEST(Journal, KeepsTheChecksumsOfTheInputs) {
  const Folder folder;
  const std::string path = folder / "rows";
  Journal journal(path);
  Row row = row_of("a", Status::ok);
  row.inputs_checksum = {"1-2-3", "4-5-6"};
  journal.append(row);
  EXPECT_EQ(read_journal(path).at(0).inputs_checksum, row.inputs_checksum);
}

}  // namespace
}  // namespace flashbench::test
