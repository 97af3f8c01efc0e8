// What descriptions alone decide: rows that cannot fit, or that describe what cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roster/description.hpp"
#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

reply::Describe needing(std::int64_t inputs, std::int64_t outputs, std::int64_t workspace) {
  reply::Describe description;
  description.inputs_bytes = inputs;
  description.outputs_bytes = outputs;
  description.cost.workspace_bytes = workspace;
  description.room_bytes = 1000;
  return description;
}

TEST(Description, CountsTwoSetsAndOneWorkspace) {
  EXPECT_EQ(objection_to(needing(200, 100, 400)).status, Status::ok) << "it fits to the byte";
  const Objection objection = objection_to(needing(200, 100, 401));
  EXPECT_EQ(objection.status, Status::oom);
  EXPECT_EQ(objection.needed_bytes, 1001);
  EXPECT_THAT(objection.reason, HasSubstr("600 bytes of memory and the workspace 401"));
}

TEST(Description, SaysNothingAgainstWhatNobodyKnowsTheRoomOf) {
  reply::Describe description = needing(200, 100, std::int64_t{1} << 60);
  description.room_bytes.reset();
  EXPECT_EQ(objection_to(description).status, Status::ok);
}

TEST(Description, SumsBeyondSixtyThreeBitsAreOutOfMemoryToo) {
  const std::int64_t vast = std::int64_t{1} << 62;
  EXPECT_EQ(objection_to(needing(vast, vast, vast)).status, Status::oom);
}

TEST(Description, WithNegativeBytesIsAFailure) {
  EXPECT_EQ(objection_to(needing(-1, 0, 0)).status, Status::failed);
  EXPECT_EQ(objection_to(needing(0, -1, 0)).status, Status::failed);
  EXPECT_EQ(objection_to(needing(0, 0, -1)).status, Status::failed);
}

TEST(Description, ThatCannotFitIsOutOfMemoryWithoutPreparing) {
  setenv("FAKE_ROOM", "1000000", 1);
  const Log log;
  const auto alone = by_impl(run(plan_of({"large"})));
  EXPECT_EQ(alone.at("large").status, Status::oom);
  EXPECT_EQ(alone.at("large").memory.needed_bytes, 1000000004000);
  EXPECT_EQ(alone.at("large").memory.workspace_bytes, 1000000000000);
  EXPECT_THAT(log.lines("prepare"), IsEmpty());
  const auto both = by_impl(run(plan_of({"large", "ok"})));
  unsetenv("FAKE_ROOM");
  EXPECT_EQ(both.at("large").status, Status::oom);
  EXPECT_EQ(both.at("ok").status, Status::ok);
  EXPECT_THAT(log.lines("output large"), IsEmpty());
}

TEST(Description, ThatFitsIsTriedInEarnest) {
  setenv("FAKE_ROOM", "2000000000000", 1);
  const auto rows = by_impl(run(plan_of({"large", "oom"})));
  unsetenv("FAKE_ROOM");
  EXPECT_EQ(rows.at("large").status, Status::ok) << rows.at("large").reason;
  EXPECT_EQ(rows.at("oom").status, Status::oom);
  EXPECT_THAT(rows.at("oom").reason, HasSubstr("S and P need 8 TiB"));
}

TEST(Description, ThatCannotBeFailsItsRowAlone) {
  const Log log;
  const auto rows = by_impl(run(plan_of({"ok", "negative", "negativeflops"})));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  for (const char* impl : {"negative", "negativeflops"}) {
    EXPECT_EQ(rows.at(impl).status, Status::failed);
    EXPECT_THAT(rows.at(impl).reason, HasSubstr("cannot be"));
    EXPECT_FALSE(rows.at(impl).memory.workspace_bytes);
    EXPECT_FALSE(rows.at(impl).cost);
  }
  EXPECT_THAT(log.lines("output negative"), IsEmpty());
}

}  // namespace
}  // namespace flashbench::test
