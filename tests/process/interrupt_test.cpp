#include "process/interrupt.hpp"
#include "support/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <thread>

#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

using testing::IsEmpty;

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

Plan five_cases() {
  Plan plan;
  for (const std::int64_t seq : {64, 128, 192, 256, 320})
    plan.cases.push_back(fake_case(seq == 192 ? "hang:1" : "ok", seq));
  return plan;
}

TEST(Interrupt, KeepsWhatHadFinished) {  // C08
  ScheduleEvents events;
  std::size_t finished = 0;
  events.row_finished = [&](const Row&) { ++finished; };
  std::thread sender([main = pthread_self()] {
    sleep_ms(1500);
    pthread_kill(main, SIGINT);
  });
  const auto started = std::chrono::steady_clock::now();
  const ScheduleResult result = run_plan(five_cases(), fake_roster(), quick(), events);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(4));
  sender.join();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(finished, 2u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(result.rows[i].status, i < 2 ? Status::ok : Status::not_run) << i;
    EXPECT_EQ(result.rows[i].time.has_value(), i < 2) << i;
    EXPECT_EQ(result.rows[i].reason.empty(), i < 2) << i;
  }
  EXPECT_THAT(children(), IsEmpty());
}

TEST(Interrupt, KeepsWhatHadEnoughWhileOthersOfItsGroupGoOn) {
  Options options = quick();
  options.time_budget_s = 60;
  std::thread sender([main = pthread_self()] {
    sleep_ms(1000);
    pthread_kill(main, SIGINT);
  });
  const auto rows = by_impl(run(plan_of({"ok", "noisy"}), options));
  sender.join();
  EXPECT_EQ(rows.at("ok").status, Status::ok);
  EXPECT_EQ(rows.at("noisy").status, Status::not_run);
  EXPECT_FALSE(rows.at("noisy").time);
}

TEST(Interrupt, RestoresTheFormerHandlers) {
  run(plan_of({"ok"}));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
  }
}

TEST(Interrupt, IsStillKnownWhereTheInnerOfTwoScopesHasEnded) {
  {
    const InterruptScope outer;
    {
      const InterruptScope inner;
      EXPECT_FALSE(interrupted());
      raise(SIGQUIT);
    }
    EXPECT_TRUE(interrupted());
  }
  EXPECT_FALSE(interrupted());
}

// A front in a process of its own whose worker hangs; its program has a name that is nobody else's.
struct Front {
  Folder folder;
  std::string program = folder / "worker";
  pid_t id = -1;

  explicit Front(bool ignores_the_first_signal) {
    std::filesystem::create_symlink(fake_worker, program);
    std::filesystem::create_directory(folder / "tmp");
    id = fork();
    if (id != 0) return;
    setenv("TMPDIR", (folder / "tmp").c_str(), 1);
    ScheduleEvents events;
    if (ignores_the_first_signal)  // busy elsewhere: only the second signal can end it
      events.row_finished = [](const Row&) {
        for (;;) sleep_ms(100);
      };
    run_plan(plan_of({ignores_the_first_signal ? "ok" : "hang:1"}), fake_roster(program), quick(),
             events);
    _exit(0);
  }
  int wait() const {
    int status = 0;
    waitpid(id, &status, 0);
    return status;
  }
  bool workers_gone() const {
    for (int i = 0; i < 100; ++i, sleep_ms(20))
      if (processes(0, program).empty()) return true;
    return false;
  }
};

TEST(Interrupt, ASecondOneEndsAtOnce) {
  const Front front(true);
  sleep_ms(1500);
  EXPECT_FALSE(processes(0, front.program).empty());
  kill(front.id, SIGINT);
  sleep_ms(100);
  kill(front.id, SIGINT);
  const int status = front.wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_TRUE(front.workers_gone());
  EXPECT_TRUE(std::filesystem::is_empty(front.folder / "tmp"));
}

TEST(Interrupt, ASecondOneEndsHoweverManyProcessGroupsThereAre) {
  std::array<int, 2> ends{};  // closed at the other end once every process is gone
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t front = fork();
  if (front == 0) {
    const InterruptScope scope;
    for (int i = 0; i < 150; ++i) {
      const pid_t worker = fork();
      if (worker == 0) {
        alarm(30);  // whatever becomes of the test
        for (;;) pause();
      }
      setpgid(worker, worker);
      register_process_group(worker);
      if (i % 3 == 0) {  // a place that is given back is taken again
        forget_process_group(worker);
        register_process_group(worker);
      }
    }
    raise(SIGINT);
    raise(SIGINT);
    _exit(0);
  }
  close(ends[1]);
  int status = 0;
  waitpid(front, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  pollfd gone{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&gone, 1, 10000), 1) << "some of them are left";
  close(ends[0]);
}

TEST(Interrupt, AKilledFrontLeavesNoWorkers) {
  const Front front(false);
  sleep_ms(1000);
  EXPECT_FALSE(processes(0, front.program).empty());
  kill(front.id, SIGKILL);
  front.wait();
  EXPECT_TRUE(front.workers_gone());
}

}  // namespace
}  // namespace flashbench::test
