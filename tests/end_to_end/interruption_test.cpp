// Ctrl-C and worse: what was finished is kept, and a file is never half written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// Five cases of about two seconds each: no budget ends sooner than asked for.
Arguments five_cases(const std::string& report) {
  return {"run",
          "--device",
          "cpu",
          "--impl",
          "v2",
          "--seq",
          "64,128,192,256,320",
          "--time-budget",
          "2",
          "--precision",
          "0.0001%",
          "--json",
          report};
}

// The journal has a line for each row that finished.
void wait_for_first_row(const std::string& report) {
  for (int i = 0; i < 600; ++i, sleep_s(0.05))
    if (std::filesystem::exists(report + ".journal") &&
        read_file(report + ".journal").find('\n') != std::string::npos)
      return;
  ADD_FAILURE() << "no row finished in 30 s";
}

// Of the five, how many have each status.
std::map<std::string, int> saved(const std::string& path) {
  const auto report = strict_json(read_file(path));
  EXPECT_EQ(report.at("complete"), false);
  EXPECT_EQ(report.at("rows").size(), 5u);
  std::map<std::string, int> found;
  for (const auto& row : report.at("rows")) ++found[row.at("status")];
  return found;
}

void expect_saved(const std::string& path) {
  auto found = saved(path);
  EXPECT_GE(found["ok"], 1);
  EXPECT_GE(found["not_run"], 1);
  EXPECT_EQ(found["ok"] + found["not_run"], 5);
}

// Until its words are read nothing is there to be saved; the journal is the first thing that is.
TEST(Interruption, BeforeTheFirstWorkerAnswersIsOneToo) {
  for (int microseconds = 0; microseconds <= 40'000; microseconds += 4'000) {
    const TemporaryFolder folder;
    const std::string journal = folder / "r.json.journal";
    Program run(flashbench_program, five_cases(folder / "r.json"));
    for (int i = 0; i < 10'000 && !std::filesystem::exists(journal); ++i) sleep_s(0.0002);
    sleep_s(0.002 + microseconds * 1e-6);
    run.send(SIGTERM);
    EXPECT_EQ(run.wait(30).exit_code, 130) << microseconds;
    EXPECT_FALSE(std::filesystem::exists(journal)) << microseconds;
  }
}

TEST(Interruption, KeepsWhatHadFinished) {
  const TemporaryFolder folder;
  Program run(flashbench_program, five_cases(folder / "r.json"));
  wait_for_first_row(folder / "r.json");
  run.send(SIGINT);
  const auto asked = std::chrono::steady_clock::now();
  const Outcome outcome = run.wait(30);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(4)) << "within one case";
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, testing::HasSubstr("with --resume " + (folder / "r.json")));
  expect_saved(folder / "r.json");
}

TEST(Interruption, FromATerminalReachesTheWorkersTooAndLosesNothing) {
  const TemporaryFolder folder;
  Program run(flashbench_program, five_cases(folder / "r.json"));
  wait_for_first_row(folder / "r.json");
  run.send_to_group(SIGINT);
  const Outcome outcome = run.wait(30);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  expect_saved(folder / "r.json");
}

// Not the user ends it here: an error of the front itself, whose folder is gone.
TEST(Interruption, ByAnErrorOfTheFrontKeepsWhatHadFinished) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "here");
  std::string command = "cd '" + (folder / "here") + "' && exec '" + flashbench_program + "'";
  for (const std::string& word : five_cases(folder / "r.json")) command += " '" + word + "'";
  command += " --dump tensors --csv '" + (folder / "r.csv") + "'";
  Program run("/bin/sh", {"-c", command});
  wait_for_first_row(folder / "r.json");
  // A worker that writes there meanwhile leaves it not empty.
  std::error_code error;
  do std::filesystem::remove_all(folder.path() / "here", error);
  while (error == std::errc::directory_not_empty);
  ASSERT_FALSE(error) << error.message();
  const Outcome outcome = run.wait(30);
  // A worker that was about to write there meets it first: a file that cannot be written.
  const bool unwritten = outcome.exit_code == 2;
  EXPECT_EQ(outcome.exit_code, unwritten ? 2 : 1) << outcome.err;
  EXPECT_TRUE(contains(lines_of(outcome.err).back(), unwritten ? "--dump chooses another folder"
                                                               : "flashbench: filesystem error"))
      << outcome.err;
  auto found = saved(folder / "r.json");
  EXPECT_GE(found["ok"], 1);
  EXPECT_GE(found["not_run"], 1);  // others failed if a worker met the folder gone before the front
  EXPECT_EQ(parse_csv(read_file(folder / "r.csv")).size(), 6u) << "a heading and five rows";
  EXPECT_TRUE(contains(outcome.out, "v2")) << outcome.out;
}

// What each of the commands that measure says of what had finished.
TEST(Interruption, OfADoctorASelftestOrTheClaimsSaysWhatThereIs) {
  const std::pair<Arguments, const char*> commands[] = {
      {{"doctor", "--device", "cpu", "--repeats", "50"}, "v2 against itself"},
      {{"selftest", "--device", "cpu"}, "caught by"},
      {{"claims", "--device", "cpu"}, "cannot be tested"}};
  for (const auto& [words, said] : commands) {
    Program run(flashbench_program, words);
    sleep_s(3);
    run.send_to_group(SIGINT);
    const Outcome outcome = run.wait(30);
    EXPECT_EQ(outcome.exit_code, 130) << words[0] << outcome.err;
    EXPECT_TRUE(contains(outcome.out, said)) << words[0] << outcome.out;
    EXPECT_TRUE(contains(outcome.out + outcome.err, "interrupted: ")) << words[0] << outcome.err;
  }
}

// The children of a program as soon as it has any.
std::vector<pid_t> children_of(const Program& program) {
  const std::string path = "/proc/" + std::to_string(program.id()) + "/task/" +
                           std::to_string(program.id()) + "/children";
  for (int i = 0; i < 10'000; ++i, sleep_s(0.001)) {
    std::istringstream text(read_file(path));
    if (const std::vector<pid_t> ids{std::istream_iterator<pid_t>(text), {}}; !ids.empty())
      return ids;
  }
  ADD_FAILURE() << "no worker was started in 10 s";
  return {};
}

TEST(Interruption, OfACommandThatMeasuresIsSaidWhenItsWorkersStart) {
  for (const char* command : {"run", "doctor", "selftest", "claims", "info"}) {
    Program run(flashbench_program, {command, "--device", "cpu"});
    children_of(run);
    run.send(SIGTERM);
    const Outcome outcome = run.wait(30);
    EXPECT_EQ(outcome.exit_code, 130) << command << outcome.err;
    EXPECT_TRUE(contains(outcome.out + outcome.err, "interrupted")) << command << outcome.err;
  }
}

TEST(Interruption, OfInfoKeepsTheCeilingsThatWereMeasured) {
  Program run(flashbench_program, {"info"});
  children_of(run);
  sleep_s(0.3);
  run.send(SIGINT);
  const Outcome outcome = run.wait(30);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "threads")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "interrupted before every ceiling was measured"))
      << outcome.err;
}

TEST(Interruption, WithoutAReportToGoOnFromIsSaidToo) {
  Program run(flashbench_program, {"--device", "cpu", "--impl", "v2", "--seq", "64",
                                   "--time-budget", "20", "--precision", "0.0001%", "--no-check"});
  sleep_s(1);
  run.send(SIGINT);
  const Outcome outcome = run.wait(30);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "interrupted before every row had finished")) << outcome.err;
}

// They have nothing to keep, and end as the system has it.
TEST(Interruption, OfACommandThatOnlyAsksLeavesNoWorkerBehind) {
  for (const Arguments& words : {Arguments{"list"}, Arguments{"--dry-run", "--device", "cpu"}}) {
    Program run(flashbench_program, words);
    const std::vector<pid_t> workers = children_of(run);
    run.send(SIGTERM);
    run.wait(30);
    for (const pid_t worker : workers) {
      for (int i = 0; i < 5000 && kill(worker, 0) == 0; ++i) sleep_s(0.001);
      EXPECT_EQ(kill(worker, 0), -1) << words[0];
    }
  }
}

TEST(Interruption, OfADoctorIsInItsJson) {
  const TemporaryFolder folder;
  Program run(flashbench_program,
              {"doctor", "--device", "cpu", "--repeats", "50", "--json", folder / "d.json"});
  sleep_s(3);
  run.send(SIGTERM);
  EXPECT_EQ(run.wait(30).exit_code, 130);
  EXPECT_EQ(strict_json(read_file(folder / "d.json")).at("complete"), false);
}

TEST(Interruption, ASecondOneEndsAtOnce) {
  const TemporaryFolder folder;
  Program run(flashbench_program, five_cases(folder / "r.json"));
  sleep_s(1);
  run.send_to_group(SIGINT);
  sleep_s(0.1);  // two that wait together are one
  run.send_to_group(SIGINT);
  const auto asked = std::chrono::steady_clock::now();
  run.wait(30);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(1));
}

TEST(Interruption, AReportIsOldOrNewWheneverTheProcessDies) {
  const TemporaryFolder folder;
  const std::string path = folder / "r.json";
  const Arguments words{"run",   "--device",      "cpu",  "--impl", "v2", "--seq",
                        "16,32", "--time-budget", "0.01", "--json", path};
  const Outcome whole = flashbench_says(words);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> moment(0, 1.2 * whole.seconds);
  for (int i = 0; i < 50; ++i) {
    Program run(flashbench_program, words);
    sleep_s(moment(generator));
    run.send(SIGKILL);
    run.wait();
    ASSERT_NO_THROW(strict_json(read_file(path))) << "kill " << i;
  }
}

}  // namespace
}  // namespace flashbench::test
