#include "schedule/scratch.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "schedule/fake_run.hpp"

namespace flashbench::test {
namespace {

namespace fs = std::filesystem;

void make_old(const fs::path& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
}

TEST(Scratch, IsMadeWhereTheUserWantsAndRemoved) {
  const Folder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  fs::path path;
  {
    const Scratch scratch(1000);
    path = scratch.path();
    EXPECT_EQ(path.parent_path(), folder.path());
    EXPECT_TRUE(fs::is_directory(path));
  }
  unsetenv("TMPDIR");
  EXPECT_FALSE(fs::exists(path));
}

TEST(Scratch, RemovesWhatAKilledRunLeftButNothingInUse) {
  const Folder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  const fs::path left = folder / "flashbench-scratch-left", other = folder / "other";
  fs::create_directories(left / "output");
  fs::create_directories(other);
  make_old(left);
  make_old(other);
  const Scratch in_use(1000);
  make_old(in_use.path());
  const Scratch next(1000);
  unsetenv("TMPDIR");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(in_use.path()));
}

}  // namespace
}  // namespace flashbench::test
