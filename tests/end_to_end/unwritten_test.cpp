// Files that cannot be written: `ulimit -f` is a disk that is full for one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Unwritten : public testing::Test {
 protected:
  // Files of more than `kibibytes` cannot be written.
  static Outcome says(int kibibytes, Arguments words, const std::string& iters = "3") {
    words.insert(words.begin(),
                 {"-c", "ulimit -f " + std::to_string(kibibytes) + "; exec \"$@\"", "bash",
                  flashbench_program, "run", "--device", "cpu", "--impl", "v2", "--iters", iters});
    return Program("/bin/bash", words).wait(60);
  }
  const TemporaryFolder folder;
  const std::string file = folder / "r.json";
};

TEST_F(Unwritten, OutputsEndTheRunAndBlameNoRow) {
  const Outcome run = says(512, {"--seq", "64,2048,128", "--json", file});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_THAT(run.err,
              AllOf(ContainsRegex("cannot write .*/o\\.npy \\(1048704 bytes\\)"),
                    HasSubstr("ulimit -f allows 524288 bytes"),
                    HasSubstr("the files of v2 (fwd) take 1057024 bytes"), HasSubstr("TMPDIR")));
  EXPECT_THAT(run.out, HasSubstr("not_run")) << "the table is printed";
  const auto report = strict_json(read_file(file));
  EXPECT_EQ(report.at("complete"), false);
  const auto& rows = report.at("rows");
  EXPECT_EQ(rows[0].at("status"), "ok");
  EXPECT_EQ(rows[0].at("time_ms").at("n"), 3);
  for (const int i : {1, 2}) {
    EXPECT_EQ(rows[i].at("status"), "not_run");
    EXPECT_THAT(rows[i].at("reason").get<std::string>(), HasSubstr("cannot write"));
  }
  EXPECT_FALSE(fs::exists(file + ".journal")) << "the report has all of it";
}

TEST_F(Unwritten, ADumpNamesItsFileAndLeavesNoTornOne) {
  const std::string dump = folder / "dump";
  const Outcome run = says(512, {"--seq", "2048", "--no-check", "--dump", dump});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_THAT(run.err, AllOf(ContainsRegex("cannot write " + dump + "/.*\\.npy \\(1048704 bytes"),
                             HasSubstr("take 4203136 bytes"), HasSubstr("--dump")));
  for (const auto& entry : fs::recursive_directory_iterator(dump))
    EXPECT_NE(entry.path().extension(), ".npy") << entry.path();
}

TEST_F(Unwritten, AFullDiskIsNamedForEachFileOfADump) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  const Arguments words{"--seq",        "16",     "--head-dim",   "16",
                        "--check-only", "--dump", folder / "dump"};
  ASSERT_EQ(says(1 << 20, words).exit_code, 0);
  const fs::path row = fs::directory_iterator(folder / "dump")->path();
  for (const char* name : {"q.npy", "case.json", "o.npy", "lse.npy"}) {
    fs::remove(row / name);
    fs::create_symlink("/dev/full", row / name);
    const Outcome run = says(1 << 20, words);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, ContainsRegex("cannot write " + (row / name).string() +
                                       " \\([0-9]+ bytes\\): No space left on device; the files"));
    fs::remove(row / name);
  }
  fs::remove_all(row);
  folder.write("dump/" + row.filename().string(), "no folder");
  const Outcome run = says(1 << 20, words);
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("cannot make the folder " + row.string()));
}

TEST_F(Unwritten, AReportSaysWhatItWouldTakeBeforeAnyWork) {
  const Outcome run = says(1, {"--seq", "64", "--json", file});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_THAT(run.err, AllOf(ContainsRegex("cannot write " + file + " \\([0-9]+ bytes\\)"),
                             HasSubstr("ulimit -f allows 1024 bytes")));
  EXPECT_EQ(run.out, "");
}

TEST_F(Unwritten, AJournalCostsNothingThatHasFinished) {
  // Room for each report, but not for all the samples of the rows.
  const Outcome run = says(16, {"--seq", "16,32,64", "--head-dim", "16", "--json", file}, "800");
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_THAT(run.err, AllOf(ContainsRegex("cannot write " + file + "\\.journal \\([0-9]+ bytes"),
                             ContainsRegex("cannot write " + file + " \\([0-9]+ bytes")));
  EXPECT_THAT(run.out, Not(HasSubstr("not_run")));
  EXPECT_EQ(strict_json(read_file(file)).at("complete"), false) << "as it was at the start";
}

}  // namespace
}  // namespace flashbench::test
