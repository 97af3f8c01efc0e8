// `flashbench report` on one file and on several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string golden = FLASHBENCH_SOURCE "/tests/corpus/report.json";

Outcome report_says(Arguments words) {
  words.insert(words.begin(), "report");
  return flashbench_says(words);
}

std::string report(const char* device, const char* impl, double ms) {
  return R"({"schema":"flashbench.report/1","device":{"name":")" + std::string(device) +
         R"("},"rows":[{"key":"A )" + impl + R"(","impl":")" + impl + R"(","time_ms":{"median":)" +
         std::to_string(ms) + "}}]}";
}

TEST(Report, OfSeveralFilesIsOneInEveryFormat) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", report("H200", "v1", 2)),
                    b = folder.write("b.json", report("H200", "v2", 1));
  const Outcome table = report_says({a, b});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("\nv1"), HasSubstr("\nv2"), Not(HasSubstr("device"))));
  const auto merged = strict_json(report_says({a, b, "--json", "-"}).out);
  EXPECT_EQ(merged.at("rows").size(), 2u);
  EXPECT_EQ(merged.at("rows")[1].at("origin"), 1);
  EXPECT_EQ(merged.at("origins").size(), 2u);
  EXPECT_EQ(merged.at("device").at("name"), "H200");
  for (const char* format : {"--csv", "--md", "--junit"})
    EXPECT_THAT(report_says({a, b, format, "-"}).out, AllOf(HasSubstr("v1"), HasSubstr("v2")))
        << format;
}

TEST(Report, SaysOnStandardErrorWhichRowsALaterFileReplaced) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", report("H200", "v1", 2)),
                    b = folder.write("b.json", report("H200", "v1", 3));
  const Outcome table = report_says({a, b});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.err, HasSubstr(b + ": 1 of its rows stand in " + a + " too"));
  EXPECT_THAT(table.out, AllOf(HasSubstr("3.000"), Not(HasSubstr("2.000"))));
}

TEST(Report, OfDifferentDevicesIsExitSixOrHasAColumnOfThem) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", report("H200", "v1", 2)),
                    b = folder.write("b.json", report("H100", "v1", 3));
  const Outcome refused = report_says({a, b});
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, AllOf(HasSubstr(b + ": device.name: H200 against H100"),
                                 HasSubstr("--allow-different")));
  const Outcome allowed = report_says({a, b, "--allow-different"});
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_THAT(allowed.out, AllOf(HasSubstr("device  implementation"), HasSubstr("H200    v1"),
                                 HasSubstr("H100    v1")));
  const auto csv = parse_csv(report_says({a, b, "--allow-different", "--csv", "-"}).out);
  const auto device = std::ranges::find(csv[0], "device") - csv[0].begin();
  EXPECT_EQ(csv.at(1).at(device), "H200");
  EXPECT_EQ(csv.at(2).at(device), "H100");
}

TEST(Report, ThatIsReadIsNotWrittenOver) {
  const TemporaryFolder folder;
  const std::string file = folder.write("a.json", report("H200", "v1", 2));
  for (const char* command : {"report", "claims"}) {
    const Outcome refused = flashbench_says({command, file, "--md", file});
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("the report " + file), HasSubstr("--md " + file)));
  }
  const std::string other = folder.write("b.json", report("H200", "v1", 3));
  for (const std::string& read : {file, other}) {
    const Outcome refused = flashbench_says({"compare", file, other, "--json", read});
    EXPECT_EQ(refused.exit_code, 2) << read;
    EXPECT_THAT(refused.err, HasSubstr("--json " + read));
  }
  EXPECT_EQ(report_says({file, other}).exit_code, 0);
}

TEST(Report, ExplainsTheRowsThatAFilterLeaves) {
  const Outcome one = report_says({golden, "--explain", "--filter", "v2/fwd/b16"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out,
              AllOf(HasSubstr("\nv2/fwd/b16/h16"), HasSubstr("the time of naive / its own"),
                    Not(HasSubstr("naive/fwd")), Not(HasSubstr("the row says"))));
  const Outcome none = report_says({golden, "--filter", "nosuch"});
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_THAT(none.err, HasSubstr("0 of 8 rows matched"));
}

TEST(Report, ExplainsOnStandardErrorWhereAFormatTakesStandardOutput) {
  const Outcome json = report_says({golden, "--explain", "--json", "-"});
  EXPECT_NO_THROW(strict_json(json.out));
  EXPECT_THAT(json.err, HasSubstr("FLOPs counted"));
}

TEST(Report, SaysWhatTheRowsShowButNotInMachineFormats) {
  EXPECT_THAT(report_says({golden}).out, HasSubstr("\nv2 passes v1 in "));
  EXPECT_THAT(report_says({golden, "--md", "-"}).out, HasSubstr("\nv2 passes v1 in "));
  for (const char* format : {"--json", "--csv", "--junit"})
    EXPECT_THAT(report_says({golden, format, "-"}).out, Not(HasSubstr("passes")));
}

}  // namespace
}  // namespace flashbench::test
