// --load from files to exit code, with the real worker and judge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/npy.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Load : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"q", "k", "v"}) write(name, 1);
  }
  void write(const std::string& name, double scale, const std::string& type = "<f4") {
    write_npy(inputs / (name + ".npy"),
              tensor(1, 64, 2, 32,
                     [&](auto, auto s, auto h, auto x) {
                       return scale * std::sin(double(s * 7 + h * 3 + x));
                     }),
              type);
  }
  Outcome run(Arguments more) {
    more.insert(more.begin(), {"run", "--device", "cpu", "--impl", "v2", "--time-budget", "0.05",
                               "--load", inputs.path().string()});
    return flashbench_says(more);
  }
  nlohmann::json row_of(const std::string& report) {
    return strict_json(read_file(out / report)).at("rows")[0];
  }
  TemporaryFolder inputs, out;
};

TEST_F(Load, TheReportSaysWhatWasLoaded) {
  ASSERT_EQ(run({"--json", out / "a.json"}).exit_code, 0);
  write("v", 1, "<f8");
  ASSERT_EQ(run({"--json", out / "b.json", "--layout", "bhsd"}).exit_code, 0);
  write("v", 2);
  ASSERT_EQ(run({"--json", out / "c.json"}).exit_code, 0);
  const auto sum = row_of("a.json").at("inputs_checksum");
  ASSERT_EQ(sum.size(), 2u);
  EXPECT_EQ(sum[0].get<std::string>().size(), 3 * 16 + 2u) << "a hash for each of q, k, v";
  EXPECT_EQ(row_of("b.json").at("inputs_checksum"), sum) << "the same values in another layout";
  EXPECT_NE(row_of("c.json").at("inputs_checksum"), sum);
}

TEST_F(Load, ReportsOfOtherFilesAreNotComparable) {
  ASSERT_EQ(run({"--json", out / "a.json"}).exit_code, 0);
  write("k", 0.5);
  const Outcome other = run({"--json", out / "b.json", "--baseline", out / "a.json"});
  EXPECT_EQ(other.exit_code, 6) << other.out;
  EXPECT_THAT(other.out, HasSubstr("inputs_checksum"));
  EXPECT_EQ(flashbench_says({"compare", out / "a.json", out / "b.json"}).exit_code, 6);
}

TEST_F(Load, AResumedRunKeepsRowsOfTheSameFilesAlone) {
  ASSERT_EQ(run({"--json", out / "a.json"}).exit_code, 0);
  const auto first = row_of("a.json");
  ASSERT_EQ(run({"--resume", out / "a.json"}).exit_code, 0);
  EXPECT_EQ(row_of("a.json"), first);
  write("q", 3);
  ASSERT_EQ(run({"--resume", out / "a.json"}).exit_code, 0);
  EXPECT_NE(row_of("a.json").at("time_ms"), first.at("time_ms"));
  EXPECT_NE(row_of("a.json").at("inputs_checksum"), first.at("inputs_checksum"));
}

TEST_F(Load, ADumpedProblemIsTheSameProblemAgain) {
  const std::string dump = out / "dump";
  ASSERT_EQ(run({"--causal", "--scale", "0.3", "--dtype", "bf16", "--dump", dump}).exit_code, 0);
  const std::string folder = std::filesystem::directory_iterator(dump)->path();
  const Arguments words{"run", "--device", "cpu", "--impl", "v2", "--check-only", "--load", folder};
  Arguments again = words;
  again.insert(again.end(), {"--json", out / "r.json"});
  const Outcome loaded = flashbench_says(again);
  EXPECT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_THAT(loaded.err, HasSubstr("--dtype bf16; --mask causal; --scale 0.3"));
  const auto problem = row_of("r.json").at("problem");
  EXPECT_EQ(problem.at("mask"), "causal");
  EXPECT_EQ(problem.at("scale"), 0.3);
  EXPECT_EQ(problem.at("dtype"), "bf16");

  Arguments over = words;
  over.insert(over.end(), {"--dump", dump});
  const std::string q = read_file(folder + "/q.npy");
  const Outcome refused = flashbench_says(over);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--dump would write over the inputs of --load " + folder));
  EXPECT_EQ(read_file(folder + "/q.npy"), q);
}

TEST_F(Load, ABrokenFileIsExitTwoBeforeAnyWork) {
  const std::string q = inputs / "q.npy", good = read_file(q);
  const auto refuses = [&](const std::string& content, const char* what) {
    inputs.write("q.npy", content);
    const Outcome refused = run({"--json", out / "r.json"});
    EXPECT_EQ(refused.exit_code, 2) << what;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(q), HasSubstr(what)));
    EXPECT_EQ(refused.out, "");
    EXPECT_FALSE(std::filesystem::exists(out / "r.json"));
  };
  const auto with = [&](const char* from, const char* to) {
    std::string text = good;
    return text.replace(text.find(from), std::string(from).size(), to);
  };
  refuses(good.substr(0, good.size() - 1), "fewer");
  refuses(good + "x", "more");
  refuses(with("<f4", "<i4"), "float32");
  refuses(with("<f4", ">f4"), "big-endian");
  refuses(with("False", "True "), "Fortran");
  refuses(with("\x01", "\x07"), "7.0");
  refuses("not numpy", "numpy.save");
}

TEST_F(Load, HeadsThatDoNotFitAreExitTwo) {
  const Array three = tensor(1, 64, 3, 32, [](auto, auto, auto, auto) { return 1.0; });
  for (const char* name : {"k.npy", "v.npy"}) write_npy(inputs / name, three, "<f4");
  const Outcome refused = run({});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("k.npy has 3 heads"));
}

TEST(DryRun, OfAHugeCausalProblemTakesNoTime) {
  for (const char* name : {"naive", "v1", "v2"}) {
    const Outcome plan = flashbench_says({"--device", "cpu", "--dry-run", "--impl", name, "--seq",
                                          "2047m", "--seq-k", "64", "--causal", "--head-dim", "8"});
    EXPECT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_LT(plan.seconds, 0.5) << name;
  }
}

}  // namespace
}  // namespace flashbench::test
