// Plans over the fake worker, and what a test wants to know of a run.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "support/places.hpp"

namespace flashbench::test {

inline Roster fake_roster(const std::string& program = fake_worker) {
  Roster roster;
  WorkerFacts worker;
  worker.program = program;
  worker.source = "built-in";
  worker.hello.device = DeviceFacts{};
  worker.hello.ceilings = {"copy", "sgemm"};
  roster.workers.push_back(worker);
  roster.judge_program = program;
  return roster;
}

inline Case fake_case(const std::string& impl, std::int64_t seq = 64, Pass pass = Pass::fwd) {
  Case what;
  what.impl = impl;
  what.pass = pass;
  what.problem.seq_q = what.problem.seq_k = seq;
  what.problem.scale = 0.125;
  return what;
}

inline Plan plan_of(const std::vector<std::string>& impls, std::int64_t seq = 64) {
  Plan plan;
  for (const std::string& impl : impls) plan.cases.push_back(fake_case(impl, seq));
  return plan;
}

inline Options quick() {
  Options options;
  options.time_budget_s = 0.1;
  options.timeout_s = 10;
  return options;
}

struct Told {
  std::vector<Row> finished;
  std::vector<std::string> warnings;
  ScheduleEvents events() {
    return {[this](const Row& row) { finished.push_back(row); },
            {},
            [this](const std::string& text) { warnings.push_back(text); }};
  }
};

inline ScheduleResult run(const Plan& plan, const Options& options = quick(),
                          const Roster& roster = fake_roster()) {
  return run_plan(plan, roster, options, {});
}

inline std::map<std::string, Row> by_impl(const ScheduleResult& result) {
  std::map<std::string, Row> rows;
  for (const Row& row : result.rows) rows[row.what.impl] = row;
  return rows;
}

// A folder of its own for each test process.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "flashbench-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// What the fake workers were asked, in order, while it lives.
class Log {
 public:
  Log() { setenv("FAKE_LOG", (folder_ / "log").c_str(), 1); }
  ~Log() { unsetenv("FAKE_LOG"); }
  std::vector<std::string> lines(const std::string& prefix = "") const {
    std::vector<std::string> result;
    std::ifstream file(folder_ / "log");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(prefix)) result.push_back(line);
    return result;
  }

 private:
  Folder folder_;
};

// Processes whose parent is this one, dead ones that nobody reaped included; 0: any parent, but
// started as `program`.
inline std::vector<pid_t> processes(pid_t parent, const std::string& program = "") {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string stat, command;
    std::ifstream stat_file(entry.path() / "stat"), command_file(entry.path() / "cmdline");
    std::getline(stat_file, stat);
    std::getline(command_file, command, '\0');
    const auto after_name = stat.rfind(')');
    if (after_name == std::string::npos || after_name + 4 > stat.size()) continue;
    const pid_t its_parent = std::atoi(stat.c_str() + after_name + 4);
    if (parent ? its_parent == parent : command == program) found.push_back(std::stoi(name));
  }
  return found;
}
inline std::vector<pid_t> children() {
  return processes(getpid());
}

}  // namespace flashbench::test
