#include "worker/npy.hpp"

#include <gmock/gmock.h>

#include <fstream>

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

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string with_header(std::string header) {
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
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

TEST(Npy, NamesTheFileAndTheCause) {
  Folder folder;
  EXPECT_THAT(error_of(folder / "absent.npy"), HasSubstr("absent.npy: cannot be read"));
  write_text(folder / "text.npy", "hello, this is text");
  EXPECT_THAT(error_of(folder / "text.npy"), HasSubstr("not a .npy file"));
  const auto says = [&](const std::string& header, const std::string& cause) {
    write_text(folder / "x.npy", with_header(header) + "1234");
    EXPECT_THAT(error_of(folder / "x.npy"), HasSubstr(cause));
  };
  says("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "not '<i8'");
  says("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "Fortran");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "needs 8");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': 3, }", "not a tuple");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", "not of numbers");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,99999999999), }",
       "too large");
  says("{'fortran_order': False, 'shape': (1,), }", "no 'descr'");
}

}  // namespace
}  // namespace flashbench
