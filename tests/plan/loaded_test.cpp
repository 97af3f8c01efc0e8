// --load: shapes come from the files, and what contradicts them is refused.
#include "plan/loaded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>

#include "plan/npy_shape.hpp"
#include "support/temporary_folder.hpp"

namespace flashbench {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// As numpy.save writes it; `extra` bytes more (or fewer) than the elements need.
struct File {
  std::string shape, type = "<f4", order = "False";
  char version = 1;
  int extra = 0;
};

std::size_t elements_of(const std::string& shape) {
  std::size_t count = 1;
  for (std::size_t at = 0; (at = shape.find_first_of("0123456789", at)) != shape.npos;
       at = shape.find_first_not_of("0123456789", at))
    count *= std::stoul(shape.substr(at));
  return count;
}

void write_npy(const TemporaryFolder& folder, const std::string& name, const File& file) {
  const std::string header = "{'descr': '" + file.type + "', 'fortran_order': " + file.order +
                             ", 'shape': " + file.shape + ", }\n";
  std::string text = "\x93NUMPY";
  text += file.version;
  text += '\0';
  text += static_cast<char>(header.size());
  text.append(file.version == 1 ? 1 : 3, '\0');
  const std::size_t bytes = elements_of(file.shape) * (file.type[2] - '0') + file.extra;
  folder.write(name, text + header + std::string(bytes, 'x'));
}

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(NpyShape, IsReadFromTheHeader) {
  const TemporaryFolder folder;
  write_npy(folder, "a.npy", {"(2, 0, 7, 64)"});
  write_npy(folder, "b.npy", {"(5,)"});
  write_npy(folder, "c.npy", {"()"});
  EXPECT_THAT(npy_shape(folder / "a.npy"), ElementsAre(2, 0, 7, 64));
  EXPECT_THAT(npy_shape(folder / "b.npy"), ElementsAre(5));
  EXPECT_THAT(npy_shape(folder / "c.npy"), ElementsAre());
}

TEST(NpyShape, IsReadInEveryVersionAndType) {
  const TemporaryFolder folder;
  for (const char version : {1, 2, 3})
    for (const char* type : {"<f2", "<f4", "<f8"}) {
      write_npy(folder, "a.npy", {"(2, 3)", type, "False", version});
      EXPECT_THAT(npy_shape(folder / "a.npy"), ElementsAre(2, 3)) << type;
    }
}

// The file, and words of what is wrong and what would be right.
void expect_refused(const TemporaryFolder& folder, const char* name,
                    const std::vector<std::string>& words) {
  const std::string said = refusal([&] { npy_shape(folder / name); });
  EXPECT_THAT(said, HasSubstr(folder / name));
  for (const std::string& word : words) EXPECT_THAT(said, HasSubstr(word));
}

TEST(NpyShape, RefusesWhatIsNoFile) {
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

TEST(NpyShape, RefusesElementsThatAreMoreOrFewerThanTheShapeSays) {
  const TemporaryFolder folder;
  write_npy(folder, "short.npy", {"(2, 3)", "<f4", "False", 1, -4});
  write_npy(folder, "long.npy", {"(2, 3)", "<f4", "False", 1, 1});
  expect_refused(folder, "short.npy", {"20 bytes", "fewer", "24", "(2, 3)"});
  expect_refused(folder, "long.npy", {"25 bytes", "more", "24"});
  write_npy(folder, "huge.npy", {"(0, 999999999999999999, 999999999999999999)"});
  EXPECT_EQ(npy_shape(folder / "huge.npy").size(), 3u) << "no element, however long the rest";
}

TEST(NpyShape, RefusesOtherTypesOrdersAndVersions) {
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

class Loaded : public testing::Test {
 protected:
  void SetUp() override {
    write_npy(folder, "q.npy", {"(2, 5, 8, 64)"});
    write_npy(folder, "k.npy", {"(2, 3, 4, 64)"});
    write_npy(folder, "v.npy", {"(2, 3, 4, 64)"});
  }
  Sweep load(const Sweep& sweep) { return with_loaded_shapes(sweep, folder.path().string()); }
  TemporaryFolder folder;
};

TEST_F(Loaded, ShapesComeFromTheFiles) {
  const Sweep sweep = load({});
  EXPECT_THAT(sweep.batch, ElementsAre(2));
  EXPECT_THAT(sweep.seq, ElementsAre(5));
  EXPECT_THAT(sweep.seq_k, ElementsAre(3));
  EXPECT_THAT(sweep.heads, ElementsAre(8));
  EXPECT_THAT(sweep.kv_heads, ElementsAre(4));
  EXPECT_THAT(sweep.head_dim, ElementsAre(64));
  EXPECT_THAT(sweep.init, ElementsAre(Init::loaded));
}

TEST_F(Loaded, FlagsMayRepeatThemButNotContradict) {
  Sweep sweep;
  sweep.seq = {5};
  EXPECT_NO_THROW(load(sweep));
  sweep.seq = {6};
  EXPECT_THAT(refusal([&] { load(sweep); }), HasSubstr("--seq: 6"));
}

TEST_F(Loaded, ABackwardNeedsDo) {
  Sweep sweep;
  sweep.pass = {Pass::bwd};
  EXPECT_THAT(refusal([&] { load(sweep); }), HasSubstr("do.npy"));
  write_npy(folder, "do.npy", {"(2, 5, 8, 64)"});
  EXPECT_NO_THROW(load(sweep));
}

TEST_F(Loaded, ShapesMustFitTogether) {
  write_npy(folder, "v.npy", {"(2, 4, 4, 64)"});
  EXPECT_THAT(refusal([&] { load({}); }), HasSubstr("v.npy"));
  write_npy(folder, "v.npy", {"(2, 3, 4, 64)"});
  write_npy(folder, "k.npy", {"(2, 3, 4, 32)"});
  EXPECT_THAT(refusal([&] { load({}); }), HasSubstr("k.npy is (2, 3, 4, 32) where (2, 3, 4, 64)"));
}

TEST_F(Loaded, HeadsOfKeysMustDivideThoseOfQueries) {
  write_npy(folder, "k.npy", {"(2, 3, 3, 64)"});
  write_npy(folder, "v.npy", {"(2, 3, 3, 64)"});
  EXPECT_THAT(refusal([&] { load({}); }),
              AllOf(HasSubstr("k.npy has 3 heads"), HasSubstr("8 heads of q.npy")));
}

TEST_F(Loaded, OnlySequencesMayBeEmpty) {
  for (const char* name : {"k.npy", "v.npy"}) write_npy(folder, name, {"(2, 0, 4, 64)"});
  EXPECT_NO_THROW(load({}));
  write_npy(folder, "q.npy", {"(0, 5, 8, 64)"});
  EXPECT_THAT(refusal([&] { load({}); }), HasSubstr("q.npy is (0, 5, 8, 64)"));
}

}  // namespace
}  // namespace flashbench
