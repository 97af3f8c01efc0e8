// Files that are no reports are refused at once, in one line that names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "plan/request.hpp"
#include "record/rows.hpp"
#include "record/text.hpp"
#include "report/report.hpp"
#include "support/temporary_folder.hpp"

namespace flashbench {
namespace {

using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& file) {
  try {
    read_report(file);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ReportFile, that_is_a_pipe_a_device_or_a_folder_is_refused_at_once) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& [file, kind] : {std::pair<std::string, const char*>{pipe, "a pipe"},
                                   {"/dev/zero", "a device"},
                                   {folder.path().string(), "a folder"}})
    EXPECT_THAT(refusal(file), AllOf(HasSubstr(file), HasSubstr(std::string("it is ") + kind),
                                     HasSubstr("regular file")));
}

// Of a report that an earlier version wrote: samples that go in steps, and an interval that does
// not know it.
TEST(ReportFile, gets_the_interval_that_its_samples_have_now) {
  const TemporaryFolder folder;
  Report report;
  report.rows = {testing::row("v2", 1)};
  Time& time = *report.rows[0].time;
  time.samples.clear();
  for (int i = 0; i < 200; ++i) time.samples.push_back({i < 90 ? 1.5 : 1.4, 0});
  time.n = 200;
  time.median = time.low.emplace(1.4);
  time.high = 1.41;
  const Report read = read_report(folder.write("r.json", report_text(report)));
  EXPECT_EQ(read.rows[0].time->low, 1.4);
  EXPECT_EQ(read.rows[0].time->high, 1.5);
}

TEST(ReportFile, that_a_link_leads_to_is_read) {
  const TemporaryFolder folder;
  folder.write("r.json", testing::in_report("\"rows\":[]"));
  std::filesystem::create_symlink("r.json", folder / "link");
  EXPECT_NO_THROW(read_report(folder / "link"));
}

TEST(ReportFile, that_is_absurdly_large_is_refused_before_it_is_read) {
  const TemporaryFolder folder;
  const std::string file = folder.write("large.json", "{");
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);  // a hole: it takes no space
  EXPECT_THAT(refusal(file),
              AllOf(HasSubstr(file), HasSubstr("1048576 MiB"), HasSubstr("512 MiB at most")));
}

TEST(ReportFile, that_is_no_report_is_named_in_one_line) {
  const TemporaryFolder folder;
  for (const char* text : {"{", "[]", "{\"rows\":[]}", "{\"a\":1,\n\"a\":2}", "\n\n\x01"}) {
    const std::string file = folder.write("r.json", text);
    EXPECT_THAT(refusal(file), AllOf(HasSubstr(file), Not(HasSubstr("\n")))) << text;
  }
}

}  // namespace
}  // namespace flashbench
