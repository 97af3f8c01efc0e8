#include "record/npy_header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>

#include "support/npy_file.hpp"

namespace flashbench {
namespace {

using test::TemporaryFolder;
using test::write_npy;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(NpyHeader, IsReadFromTheHeader) {
  const TemporaryFolder folder;
  write_npy(folder, "a.npy", {"(2, 0, 7, 64)"});
  write_npy(folder, "b.npy", {"(5,)"});
  write_npy(folder, "c.npy", {"()"});
  EXPECT_THAT(read_npy_header(folder / "a.npy").shape, ElementsAre(2, 0, 7, 64));
  EXPECT_THAT(read_npy_header(folder / "b.npy").shape, ElementsAre(5));
  EXPECT_THAT(read_npy_header(folder / "c.npy").shape, ElementsAre());
}

TEST(NpyHeader, IsReadInEveryVersionAndType) {
  const TemporaryFolder folder;
  for (const char version : {1, 2, 3})
    for (const char* type : {"<f2", "<f4", "<f8"}) {
      write_npy(folder, "a.npy", {"(2, 3)", type, "False", version});
      EXPECT_THAT(read_npy_header(folder / "a.npy").shape, ElementsAre(2, 3)) << type;
    }
}

// The file, and words of what is wrong and what would be right.
void expect_refused(const TemporaryFolder& folder, const char* name,
                    const std::vector<std::string>& words) {
  std::string said;
  try {
    read_npy_header(folder / name);
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr(folder / name));
  for (const std::string& word : words) EXPECT_THAT(said, HasSubstr(word));
}

TEST(NpyHeader, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  folder.write("text.npy", "hello, this is text");
  folder.write("short.npy", std::string("\x93NUMPY\x01\x00\x76\x00{", 11));
  folder.write("empty.npy", "");
  std::filesystem::create_directory(folder.path() / "folder.npy");
  ASSERT_EQ(mkfifo((folder / "pipe.npy").c_str(), 0600), 0);
  expect_refused(folder, "text.npy", {"numpy.save"});
  expect_refused(folder, "empty.npy", {"numpy.save"});
  expect_refused(folder, "short.npy", {"ends within"});
  expect_refused(folder, "missing.npy", {"no such file"});
  expect_refused(folder, "folder.npy", {"plain file"});
  expect_refused(folder, "pipe.npy", {"plain file"});
}

TEST(NpyHeader, RefusesElementsThatAreMoreOrFewerThanTheShapeSays) {
  const TemporaryFolder folder;
  write_npy(folder, "short.npy", {"(2, 3)", "<f4", "False", 1, -4});
  write_npy(folder, "long.npy", {"(2, 3)", "<f4", "False", 1, 1});
  expect_refused(folder, "short.npy", {"20 bytes", "fewer", "24", "(2, 3)"});
  expect_refused(folder, "long.npy", {"25 bytes", "more", "24"});
  write_npy(folder, "huge.npy", {"(0, 999999999999999999, 999999999999999999)"});
  EXPECT_EQ(read_npy_header(folder / "huge.npy").shape.size(), 3u)
      << "no element, however long the rest";
}

TEST(NpyHeader, RefusesOtherTypesOrdersAndVersions) {
  const TemporaryFolder folder;
  write_npy(folder, "int.npy", {"(2, 3)", "<i4"});
  write_npy(folder, "big.npy", {"(2, 3)", ">f4"});
  write_npy(folder, "complex.npy", {"(2, 3)", "<c8"});
  write_npy(folder, "fortran.npy", {"(2, 3)", "<f4", "True"});
  write_npy(folder, "order.npy", {"(2, 3)", "<f4", "Maybe"});
  write_npy(folder, "version.npy", {"(2, 3)", "<f4", "False", 9});
  write_npy(folder, "shape.npy", {"(2, -3)"});
  expect_refused(folder, "int.npy", {"'<i4'", "float16, float32 or float64"});
  expect_refused(folder, "big.npy", {"'>f4'", "big-endian", "'<f4'"});
  expect_refused(folder, "complex.npy", {"'<c8'", "float32"});
  expect_refused(folder, "fortran.npy", {"Fortran", "ascontiguousarray"});
  expect_refused(folder, "order.npy", {"fortran_order"});
  expect_refused(folder, "version.npy", {"9.0", "1.0"});
  expect_refused(folder, "shape.npy", {"(2, -3)"});
}

}  // namespace
}  // namespace flashbench
