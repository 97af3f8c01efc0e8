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
  options.outputs["json"] = folder / "r.json";
  options.outputs["csv"] = folder / "r.csv";
  options.outputs["md"] = "-";
  options.dump_dir = folder.path().string();
  options.baseline_file = folder.write("b.json", "{}");
  EXPECT_EQ(refusal({{"--config", folder.write("c.json", "{}")}}), "nothing was refused");
}

TEST_F(Places, ThatAreOneFileUnderTwoNamesAreRefusedNamingBoth) {
  options.outputs["json"] = folder / "x";
  for (const std::string& other : {folder / "x", folder / "./x",
                                   folder / ("../" + folder.path().filename().string() + "/x")}) {
    options.outputs["csv"] = other;
    EXPECT_THAT(refusal(), AllOf(HasSubstr("--json " + options.outputs["json"]),
                                 HasSubstr("--csv " + other), HasSubstr("one file")));
  }
}

TEST_F(Places, ThatLinksMakeOneFileAreRefused) {
  folder.write("x", "");
  fs::create_symlink(folder / "x", folder / "soft");
  fs::create_hard_link(folder / "x", folder / "hard");
  fs::create_symlink(folder / "yet to be", folder / "dangling");
  options.outputs["md"] = folder / "x";
  for (const char* link : {"soft", "hard"}) {
    options.outputs["junit"] = folder / link;
    EXPECT_THAT(refusal(),
                AllOf(HasSubstr("--md"), HasSubstr("--junit " + options.outputs["junit"])));
  }
  options.outputs["md"] = folder / "yet to be";
  options.outputs["junit"] = folder / "dangling";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--md"), HasSubstr("--junit")));
}

TEST_F(Places, TheJournalIsNobodyElsesFile) {
  options.outputs["json"] = folder / "r.json";
  options.outputs["csv"] = folder / "r.json.journal";
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("the journal"), HasSubstr("--csv " + options.outputs["csv"])));
  options.outputs.erase("csv");
  options.resume_file = folder.write("earlier.json", "{}");
  folder.write("earlier.json.journal", "");
  options.outputs["md"] = folder / "earlier.json.journal";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("of --resume"), HasSubstr("--md"), HasSubstr("over")));
}

TEST_F(Places, AResumedReportMayBeTheJsonAndNothingElse) {
  options.outputs["json"] = options.resume_file = folder.write("r.json", "{}");
  EXPECT_EQ(refusal(), "nothing was refused");
  options.outputs.erase("json");
  options.outputs["csv"] = options.resume_file;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--resume"), HasSubstr("--csv"), HasSubstr("over")));
}

TEST_F(Places, WhatIsReadIsNotWrittenOver) {
  const std::string file = folder.write("in", "");
  options.outputs["json"] = file;
  EXPECT_THAT(refusal({{"--config", file}}), HasSubstr("--config " + file));
  options.baseline_file = file;
  EXPECT_THAT(refusal(), HasSubstr("--baseline " + file));
  options.baseline_file.clear();
  options.plugins = {file};
  EXPECT_THAT(refusal(), HasSubstr("--plugin " + file));
  options.plugins.clear();
  options.load_dir = folder.path().string();
  options.outputs["json"] = folder.write("q.npy", "");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--load"), HasSubstr("q.npy")));
}

TEST_F(Places, StdoutTakesOneOutput) {
  options.outputs["json"] = options.outputs["md"] = "-";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--json -"), HasSubstr("--md -"), HasSubstr("stdout")));
  options.outputs["md"] = "/dev/stdout";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--json -"), HasSubstr("--md /dev/stdout")));
}

TEST_F(Places, NoOutputIsAFolderForAnother) {
  options.outputs["json"] = folder / "r.json";
  options.dump_dir = folder / "r.json";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--json"), HasSubstr("--dump")));
  options.dump_dir = folder / "r.json/dump";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("--dump"), HasSubstr("below --json")));
  options.dump_dir.clear();
  options.outputs["csv"] = folder / "r.json/r.csv";
  EXPECT_THAT(refusal(), HasSubstr("below --json"));
}

TEST_F(Places, TheNullDeviceTakesAnything) {
  options.outputs["json"] = options.outputs["csv"] = "/dev/null";
  EXPECT_EQ(refusal(), "nothing was refused");
}

}  // namespace
}  // namespace flashbench::test
