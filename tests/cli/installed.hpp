// This flashbench beside a worker and a judge that only pretend, in a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace flashbench::test {

class Installed : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(flashbench_program, bin / "flashbench");
    for (const char* name : {"flashbench-worker-cpu", "flashbench-judge"})
      std::filesystem::create_symlink(fake_worker, bin / name);
  }
  Program start(const Arguments& words, Environment environment = {}) const {
    environment.emplace_back("FAKE_NAMES",
                             "ok,noisy,refuse,oom,launchfail,negative,negativeflops,large,crash:1");
    return Program(bin / "flashbench", words, environment);
  }
  // On the CPU, quickly.
  Outcome says(Arguments words, const Environment& environment = {}) const {
    words.insert(words.begin(), {"run", "--device", "cpu"});
    return start(words, environment).wait(60);
  }
  nlohmann::json report(const std::string& name = "r.json") const {
    return nlohmann::json::parse(read_file(out / name));
  }
  // The statuses of the rows, by their query lengths.
  std::map<int, std::string> statuses(const std::string& name = "r.json") const {
    std::map<int, std::string> found;
    const auto whole = report(name);
    for (const auto& row : whole.at("rows"))
      found[row.at("problem").at("seq_q").get<int>()] = row.at("status").get<std::string>();
    return found;
  }
  void wait_for_first_row(const std::string& name = "r.json") const {
    const std::string journal = out / (name + ".journal");
    for (int i = 0; i < 1200; ++i) {
      if (std::filesystem::exists(journal) && read_file(journal).find('\n') != std::string::npos)
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "no row finished in 24 s";
  }

  TemporaryFolder bin, out;
};

}  // namespace flashbench::test
