#include "worker/npy.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "record/write_error.hpp"
#include "worker/peer.hpp"

namespace flashbench {
namespace {

using testing::Folder;
using ::testing::HasSubstr;

std::string error_of(const std::string& path) {
  try {
    read_npy(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(Npy, ReadsWhatItWrote) {
  Folder folder;
  const std::vector<float> four{1, -2, 3.5, 4, 5, 6};
  const std::vector<std::uint16_t> two{0x3c00, 0xc000};
  const std::vector<double> eight{0.1};
  write_npy(folder / "four.npy", {1, 3, 2, 1}, NpyType::f4, four.data());
  write_npy(folder / "two.npy", {2}, NpyType::f2, two.data());
  write_npy(folder / "eight.npy", {}, NpyType::f8, eight.data());
  write_npy(folder / "none.npy", {0, 5}, NpyType::f4, nullptr);
  NpyArray array = read_npy(folder / "four.npy");
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{1, 3, 2, 1}));
  std::vector<float> got(6);
  array.read(0, 6, got.data());
  EXPECT_EQ(got, four);
  read_npy(folder / "two.npy").read(1, 1, got.data());
  EXPECT_EQ(got[0], -2);
  read_npy(folder / "eight.npy").read(0, 1, got.data());
  EXPECT_EQ(got[0], 0.1f);
  EXPECT_EQ(read_npy(folder / "none.npy").elements(), 0);
}

TEST(Npy, WhatCannotBeWrittenToItsEndIsNamedAndGone) {
  Folder folder;
  const std::vector<float> data(4096);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{1024, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  std::string said;
  try {
    write_npy(folder / "o.npy", {4096}, NpyType::f4, data.data());
  } catch (const WriteError& error) {
    said = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(said, "cannot write " + (folder / "o.npy") +
                      " (16512 bytes): File too large (ulimit -f allows 1024 bytes)");
  EXPECT_FALSE(std::filesystem::exists(folder / "o.npy"));
}

TEST(Npy, NamesTheFileAndTheCause) {
  Folder folder;
  EXPECT_THAT(error_of(folder / "absent.npy"), HasSubstr("absent.npy: there is no such file"));
}

}  // namespace
}  // namespace flashbench
