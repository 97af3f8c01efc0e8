// A judge that fails, and workers that do not prove that they have the inputs which it judges by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "schedule/fake_run.hpp"
#include "support/places.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Failure, TheJudgeIsStartedAgainOnce) {
  const Folder folder;
  setenv("FAKE_MARKER", (folder / "marker").c_str(), 1);
  const auto rows = by_impl(run(plan_of({"judgeonce", "judgecrash", "ok"})));
  unsetenv("FAKE_MARKER");
  EXPECT_EQ(rows.at("judgeonce").status, Status::ok) << rows.at("judgeonce").reason;
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  EXPECT_EQ(rows.at("judgecrash").status, Status::crashed);
  EXPECT_THAT(rows.at("judgecrash").reason,
              HasSubstr("could not be judged, which is not its own fault: fake-worker was killed"));
}

// On a GPU the judge prepares beside the worker, and is asked later or never.
TEST(Failure, AJudgeThatPreparesBesideTheWorkerFailsLikeAnyOther) {
  const Folder folder;
  setenv("FAKE_MARKER", (folder / "marker").c_str(), 1);
  Roster roster = fake_roster();
  roster.backend = Backend::cuda;
  const auto rows =
      by_impl(run(plan_of({"judgeonce", "judgecrash", "wrong", "ok"}), quick(), roster));
  unsetenv("FAKE_MARKER");
  EXPECT_EQ(rows.at("judgeonce").status, Status::ok) << rows.at("judgeonce").reason;
  EXPECT_EQ(rows.at("ok").status, Status::ok) << rows.at("ok").reason;
  EXPECT_EQ(rows.at("wrong").status, Status::failed);
  EXPECT_EQ(rows.at("judgecrash").status, Status::crashed);
  const auto unasked = by_impl(run(plan_of({"refuse"}), quick(), roster));
  EXPECT_EQ(unasked.at("refuse").status, Status::unsupported);
  EXPECT_THAT(children(), IsEmpty());
}

// Its device takes long to get ready, and so do the workers'.
TEST(Failure, AJudgeOnAGpuIsStartedBeforeTheWorkersAreAsked) {
  const Folder folder;
  const std::string program = folder / "judge", marker = folder / "started";
  std::ofstream(program) << "#!/bin/sh\ntouch " << marker << "\nexec " << fake_worker
                         << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  Roster roster = fake_roster();
  roster.backend = Backend::cuda;
  roster.judge_program = program;
  const auto rows = by_impl(run(plan_of({"refuse"}), quick(), roster));
  EXPECT_EQ(rows.at("refuse").status, Status::unsupported);
  EXPECT_TRUE(std::filesystem::exists(marker));
  EXPECT_THAT(children(), IsEmpty());
}

TEST(Failure, WithoutItsProgramAJudgeOnAGpuIsNamed) {
  Roster roster = fake_roster();
  roster.backend = Backend::cuda;
  roster.judge_program = "/no/such/judge";
  const auto rows = by_impl(run(plan_of({"ok"}), quick(), roster));
  EXPECT_EQ(rows.at("ok").status, Status::crashed);
  EXPECT_THAT(rows.at("ok").reason, HasSubstr("/no/such/judge"));
}

TEST(Failure, AJudgeThatGivesNoSignOfLifeIsATimeoutAndNoFailure) {
  Options options = quick();
  options.timeout_s = 0.3;
  const auto rows = by_impl(run(plan_of({"judgehang", "ok"}), options));
  EXPECT_EQ(rows.at("judgehang").status, Status::timeout);
  EXPECT_THAT(rows.at("judgehang").reason, HasSubstr("no sign of life for 0.3 s (while judging"));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
}

// A worker under another name, which has the faults that the environment asks for.
struct FaultyWorker {
  Folder folder;
  std::string program = folder / "faulty";
  explicit FaultyWorker(const char* checksums) {
    std::filesystem::create_symlink(fake_worker, program);
    setenv("FAKE_CHECKSUMS", checksums, 1);
  }
  ~FaultyWorker() { unsetenv("FAKE_CHECKSUMS"); }
  // Beside a worker that is in order, as source "plugin".
  Roster beside() const {
    Roster roster = fake_roster();
    roster.workers.push_back(roster.workers.front());
    roster.workers.back().program = program;
    roster.workers.back().source = "plugin";
    return roster;
  }
};

Plan plan_with_plugin() {
  Plan plan = plan_of({"ok", "ok:2"});
  plan.cases.back().source = "plugin";
  return plan;
}

TEST(Failure, AWorkerThatDoesNotProveItsInputsIsNotJudged) {
  const std::map<std::string, std::string> reasons{
      {"none", "gave 0 checksums"}, {"few", "gave 1 checksums"}, {"other", "input set 1 differs"}};
  for (const auto& [fault, reason] : reasons) {
    const FaultyWorker faulty(fault.c_str());
    const Log log;
    const auto rows = by_impl(run(plan_with_plugin(), quick(), faulty.beside()));
    EXPECT_EQ(rows.at("ok").status, Status::ok) << rows.at("ok").reason;
    EXPECT_EQ(rows.at("ok:2").status, Status::failed) << fault;
    EXPECT_THAT(rows.at("ok:2").reason, HasSubstr(reason));
    EXPECT_THAT(log.lines("judge ok:2"), IsEmpty());
    EXPECT_THAT(log.lines("run ok:2"), IsEmpty());
  }
}

TEST(Failure, WithoutAJudgeWorkersWithOtherInputsAreNotTimed) {
  Options options = quick();
  options.check = Check::none;
  for (const char* fault : {"few", "other"}) {
    const FaultyWorker faulty(fault);
    const Log log;
    const auto rows = by_impl(run(plan_with_plugin(), options, faulty.beside()));
    EXPECT_EQ(rows.at("ok").status, Status::ok) << rows.at("ok").reason;
    EXPECT_EQ(rows.at("ok:2").status, Status::failed);
    EXPECT_THAT(rows.at("ok:2").reason, HasSubstr("the first worker"));
    EXPECT_THAT(log.lines("run ok:2"), IsEmpty());
  }
}

}  // namespace
}  // namespace flashbench::test
