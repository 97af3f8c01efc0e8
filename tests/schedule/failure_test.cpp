// Workers that die, hang or talk rubbish: what is lost, what is not, and who is to blame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <random>
#include <thread>

#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Failure, OnlyWhatDiesAloneIsCrashed) {
  Told told;
  const ScheduleResult result =
      run_plan(plan_of({"ok", "crash:2", "crashshared"}), fake_roster(), quick(), told.events());
  const auto rows = by_impl(result);
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  EXPECT_TRUE(rows.at("ok").shared_rounds_with.empty());
  EXPECT_EQ(rows.at("crashshared").status, Status::ok) << rows.at("crashshared").reason;
  EXPECT_EQ(rows.at("crash:2").status, Status::crashed);
  EXPECT_THAT(
      rows.at("crash:2").reason,
      HasSubstr("killed by signal 11 (Segmentation fault); its last words: fake: about to"));
  EXPECT_THAT(rows.at("crash:2").reason, HasSubstr("running crash:2"));
  EXPECT_FALSE(rows.at("crash:2").time);
  EXPECT_EQ(told.finished.size(), 3u);
  EXPECT_EQ(told.warnings.size(), 1u);
}

TEST(Failure, DeathBetweenRoundsIsCaught) {
  Options options = quick();
  options.iters = 200;
  const auto rows = by_impl(run(plan_of({"ok", "idle:2"}), options));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  EXPECT_EQ(rows.at("idle:2").status, Status::crashed);
  EXPECT_THAT(rows.at("idle:2").reason, HasSubstr("exited with status 3"));
}

TEST(Failure, WhoGivesNoSignOfLifeTimesOut) {
  Options options = quick();
  options.timeout_s = 0.4;
  Plan plan = plan_of({"ok", "hang:2"});
  plan.cases.push_back(fake_case("ok", 128));
  const ScheduleResult result = run(plan, options);
  EXPECT_EQ(result.rows[0].status, Status::ok);
  EXPECT_EQ(result.rows[1].status, Status::timeout);
  EXPECT_THAT(result.rows[1].reason, HasSubstr("no sign of life for 0.4 s (while running hang:2"));
  EXPECT_EQ(result.rows[2].status, Status::ok);
  EXPECT_THAT(children(), IsEmpty());
}

TEST(Failure, AWorkerThatNeverSaysHelloTimesOutLikeAnyOther) {
  Options options = quick();
  options.timeout_s = 0.3;
  setenv("FAKE_SILENT", "1", 1);
  const auto started = std::chrono::steady_clock::now();
  const ScheduleResult result = run(plan_of({"ok"}), options);
  unsetenv("FAKE_SILENT");
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(3));
  EXPECT_EQ(result.rows[0].status, Status::timeout);
  EXPECT_THAT(result.rows[0].reason, HasSubstr("no sign of life for 0.3 s (while starting)"));
}

TEST(Failure, FinishedWorkRestartsTheClock) {
  Options options = quick();
  options.timeout_s = 0.4;  // a turn of "long" takes 0.6 s
  const auto rows = by_impl(run(plan_of({"long"}), options));
  EXPECT_EQ(rows.at("long").status, Status::ok) << rows.at("long").reason;
}

TEST(Failure, APassThatMayTakeLongIsWaitedForBeyondTheTimeOutButNotForever) {
  Options options = quick();
  options.timeout_s = 0.3;  // a pass of "vast" takes 0.4 s, and may take 1 s
  const auto rows = by_impl(run(plan_of({"vast", "vast:1"}), options));
  EXPECT_EQ(rows.at("vast").status, Status::ok) << rows.at("vast").reason;
  EXPECT_EQ(rows.at("vast:1").status, Status::timeout);
  EXPECT_THAT(rows.at("vast:1").reason, HasSubstr("no sign of life for 1 s (while running vast:1"));
}

TEST(Failure, RubbishOnTheChannelIsACrash) {
  const auto rows = by_impl(run(plan_of({"ok", "babble"})));
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  EXPECT_EQ(rows.at("babble").status, Status::crashed);
  EXPECT_THAT(rows.at("babble").reason, HasSubstr("broke the protocol"));
}

TEST(Failure, WhatHasEnoughOutlivesALaterCrashInItsGroup) {
  Options options = quick();
  options.time_budget_s = 1;
  const Log log;
  Told told;
  run_plan(plan_of({"ok", "noisycrash:12"}), fake_roster(), options, told.events());
  ASSERT_EQ(told.finished.size(), 2u);
  EXPECT_EQ(told.finished[0].what.impl, "ok");
  EXPECT_EQ(told.finished[0].status, Status::ok);
  EXPECT_EQ(told.finished[0].shared_rounds_with.size(), 1u);
  EXPECT_EQ(log.lines("run ok").size(), 8u);
  EXPECT_EQ(told.finished[1].status, Status::crashed);
}

TEST(Failure, ACeilingThatCrashesConvictsNoRow) {
  setenv("FAKE_CEILING_CRASH", "1", 1);
  const Log log;
  const ScheduleResult result = run(plan_of({"ok", "ok:2"}));
  unsetenv("FAKE_CEILING_CRASH");
  for (const Row& row : result.rows) EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(log.lines("ceiling copy").size(), 1u);
}

TEST(Failure, ACeilingThatCrashesBesideARowAloneConvictsItNeither) {
  setenv("FAKE_CEILING_CRASH", "1", 1);
  Options options = quick();
  options.time_budget_s = 0.3;
  const auto rows = by_impl(run(plan_of({"noisy", "crash:1"}), options));
  unsetenv("FAKE_CEILING_CRASH");
  EXPECT_EQ(rows.at("noisy").status, Status::ok) << rows.at("noisy").reason;
  EXPECT_EQ(rows.at("crash:1").status, Status::crashed);
}

TEST(Failure, AWorkerThatCannotStartIsNamed) {
  const ScheduleResult result = run(plan_of({"ok"}), quick(), fake_roster("/nowhere/worker"));
  EXPECT_EQ(result.rows[0].status, Status::crashed);
  EXPECT_THAT(result.rows[0].reason, HasSubstr("/nowhere/worker"));
}

// Kills a random worker after a random while, `times` times.
class Killer {
 public:
  Killer(unsigned seed, int times) : thread_([this, seed, times] { work(seed, times); }) {}
  ~Killer() {
    stop_ = true;
    thread_.join();
  }

 private:
  void work(unsigned seed, int times) {
    std::mt19937 random(seed);
    for (int i = 0; i < times && !stop_; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 150000));
      if (const auto workers = children(); !stop_ && !workers.empty())
        kill(workers[random() % workers.size()], SIGKILL);
    }
  }
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(Failure, KillsAtRandomMomentsLoseNoFinishedRow) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Plan plan = plan_of({"ok:1", "noisy:2", "crash:3"});
    plan.cases.push_back(fake_case("ok:1", 128));
    Told told;
    ScheduleResult result;
    {
      const Killer killer(seed, 1 + static_cast<int>(seed % 3));
      result = run_plan(plan, fake_roster(), quick(), told.events());
    }
    ASSERT_EQ(result.rows.size(), 4u);
    ASSERT_EQ(told.finished.size(), 4u) << "seed " << seed;
    for (const Row& finished : told.finished) {
      const auto same = std::ranges::find_if(
          result.rows, [&](const Row& row) { return key(row.what) == key(finished.what); });
      EXPECT_EQ(same->status, finished.status);
      EXPECT_EQ(same->time ? same->time->n : 0, finished.time ? finished.time->n : 0);
      // Who is killed alone, or whose judge is killed twice, is crashed.
      if (same->status == Status::crashed)
        EXPECT_THAT(same->reason, HasSubstr("killed by signal"));
      else
        EXPECT_EQ(same->status, Status::ok) << same->reason;
    }
    EXPECT_NE(result.rows[2].status, Status::ok) << "seed " << seed;
    EXPECT_THAT(children(), IsEmpty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace flashbench::test
