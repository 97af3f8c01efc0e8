// Outputs that would write over each other, or over what is read.
#include "cli/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_folder.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Places : public testing::Test {
 protected:
  std::string refusal(const std::vector<ReadFile>& read = {}) const {
    try {
      check_places(options, read);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  TemporaryFolder folder;
  Options options;
};

TEST_F(Places, OfTheirOwnAreFine) {
  options.json_file = folder / "r.json";
  options.csv_file = folder / "r.csv";
  options.md_file = "-";
  options.dump_dir = folder.path().string();
  options.baseline_file = folder.write("b.json", "{}");
  EXPECT_EQ(refusal({{"--config", folder.write("c.json", "{}")}}), "nothing was refused");
}

TEST_F(Places, ThatAreOneFileUnderTwoNamesAreRefusedNamingBoth) {
  options.json_file = folder / "x";
  for (const std::string& other : {folder / "x", folder / "./x",
                                   folder / ("../" + folder.path().filename().string() + "/x")}) {
    options.csv_file = other;
    EXPECT_THAT(refusal(), AllOf(HasSubstr("--json " + options.json_file),
                                 HasSubstr("--csv " + other), HasSubstr("one file")));
  }
}

TEST_F(Places, ThatLinksMakeOneFileAreRefused) {
  folder.write("x", "");
  fs::create_symlink(folder / "x", folder / "soft");
  fs::create_hard_link(folder / "x", folder / "hard");
  fs::create_symlink(folder / "yet to be", folder / "dangling");
  options.md_file = folder / "x";
  for (const char* link : {"soft", "hard"}) {
    options.junit_file = folder / link;
    EXPECT_THAT(refusal(), AllOf(HasSubstr("--md"), HasSubstr("--junit " + options.junit_file)));
  }
  options.md_file = folder / "yet to be";
  options.junit_file = folder / "dangling";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--md"), HasSubstr("--junit")));
}

TEST_F(Places, TheJournalIsNobodyElsesFile) {
  options.json_file = folder / "r.json";
  options.csv_file = folder / "r.json.journal";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("the journal"), HasSubstr("--csv " + options.csv_file)));
  options.csv_file.clear();
  options.resume_file = folder.write("earlier.json", "{}");
  folder.write("earlier.json.journal", "");
  options.md_file = folder / "earlier.json.journal";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("of --resume"), HasSubstr("--md"), HasSubstr("over")));
}

TEST_F(Places, AResumedReportMayBeTheJsonAndNothingElse) {
  options.json_file = options.resume_file = folder.write("r.json", "{}");
  EXPECT_EQ(refusal(), "nothing was refused");
  options.json_file.clear();
  options.csv_file = options.resume_file;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--resume"), HasSubstr("--csv"), HasSubstr("over")));
}

TEST_F(Places, WhatIsReadIsNotWrittenOver) {
  const std::string file = folder.write("in", "");
  options.json_file = file;
  EXPECT_THAT(refusal({{"--config", file}}), HasSubstr("--config " + file));
  options.baseline_file = file;
  EXPECT_THAT(refusal(), HasSubstr("--baseline " + file));
  options.baseline_file.clear();
  options.plugins = {file};
  EXPECT_THAT(refusal(), HasSubstr("--plugin " + file));
  options.plugins.clear();
  options.load_dir = folder.path().string();
  options.json_file = folder.write("q.npy", "");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--load"), HasSubstr("q.npy")));
}

TEST_F(Places, StdoutTakesOneOutput) {
  options.json_file = options.md_file = "-";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--json -"), HasSubstr("--md -"), HasSubstr("stdout")));
  options.md_file = "/dev/stdout";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--json -"), HasSubstr("--md /dev/stdout")));
}

TEST_F(Places, NoOutputIsAFolderForAnother) {
  options.json_file = folder / "r.json";
  options.dump_dir = folder / "r.json";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--json"), HasSubstr("--dump")));
  options.dump_dir = folder / "r.json/dump";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--dump"), HasSubstr("below --json")));
  options.dump_dir.clear();
  options.csv_file = folder / "r.json/r.csv";
  EXPECT_THAT(refusal(), HasSubstr("below --json"));
}

TEST_F(Places, TheNullDeviceTakesAnything) {
  options.json_file = options.csv_file = "/dev/null";
  EXPECT_EQ(refusal(), "nothing was refused");
}

}  // namespace
}  // namespace flashbench::test
