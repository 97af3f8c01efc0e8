#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "plan/request.hpp"
#include "report/golden.hpp"
#include "report/report.hpp"

namespace flashbench {
namespace {

namespace fs = std::filesystem;
using testing::content;
using ::testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("flashbench-file-test-" + std::to_string(::getpid()));
};

TEST_F(Files, are_written_whole_in_folders_made_for_them) {
  write_atomically(file("no/such/dir/r.json"), "one\n");
  EXPECT_EQ(content(file("no/such/dir/r.json")), "one\n");
  write_atomically(file("no/such/dir/r.json"), "two\n");
  EXPECT_EQ(content(file("no/such/dir/r.json")), "two\n");
}

TEST_F(Files, leave_nothing_beside_them) {
  write_atomically(file("r.json"), "one");
  check_writable(file("r.json"));
  check_writable(file("other.json"));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, are_written_through_links) {
  write_atomically(file("real.json"), "old");
  fs::create_symlink(file("real.json"), file("link.json"));
  write_atomically(file("link.json"), "new");
  EXPECT_TRUE(fs::is_symlink(file("link.json")));
  EXPECT_EQ(content(file("real.json")), "new");
}

TEST_F(Files, that_are_devices_are_not_replaced) {
  EXPECT_NO_THROW(check_writable("/dev/null"));
  EXPECT_NO_THROW(write_atomically("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, that_cannot_be_written_are_named_before_any_work) {
  write_atomically(file("plain"), "a file");
  EXPECT_THROW(check_writable(file("plain/r.json")), UsageError);
  EXPECT_THROW(check_writable(folder_.string()), UsageError);
  EXPECT_THROW(check_writable(file("folder/")), UsageError);
  EXPECT_THROW(check_writable(""), UsageError);
  EXPECT_THROW(check_writable("/proc/no/such/r.json"), UsageError);
  EXPECT_NO_THROW(check_writable("-"));
  EXPECT_NO_THROW(check_writable(file("new/folder/r.json")));
  try {
    write_atomically(file("plain/r.json"), "text");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr(file("plain/r.json")));
  }
}

TEST_F(Files, that_are_pipes_without_a_reader_are_refused_and_not_waited_for) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  try {
    check_writable(file("pipe"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipe that nobody reads"));
  }
  EXPECT_THROW(write_atomically(file("pipe"), "text"), std::runtime_error);
}

TEST_F(Files, that_are_pipes_do_not_end_for_their_reader_before_they_are_written) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  const int reader = ::open(file("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  check_writable(file("pipe"));
  char letter = 0;
  EXPECT_EQ(::read(reader, &letter, 1), -1) << "0 would be its end";
  write_atomically(file("pipe"), "x");
  EXPECT_EQ(::read(reader, &letter, 1), 1);
  EXPECT_EQ(letter, 'x');
  ::close(reader);
}

TEST_F(Files, that_a_full_disk_refuses_are_an_error) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  EXPECT_THROW(write_atomically("/dev/full", "text"), std::runtime_error);
}

TEST_F(Files, hold_old_or_new_content_whenever_the_writer_dies) {
  const std::string path = file("r.json"), old_text(300000, 'o'), new_text(300000, 'n');
  write_atomically(path, old_text);
  for (int i = 0; i < 50; ++i) {
    const pid_t writer = ::fork();
    if (writer == 0)
      for (int turn = 0;; ++turn) write_atomically(path, turn % 2 ? old_text : new_text);
    ::usleep(200 * static_cast<useconds_t>(i % 17));
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    const std::string found = content(path);
    ASSERT_TRUE(found == old_text || found == new_text) << found.size();
  }
}

}  // namespace
}  // namespace flashbench
