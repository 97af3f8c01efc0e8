// --load: shapes come from the files, and what contradicts them is refused.
#include "plan/loaded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/npy_shape.hpp"
#include "support/temporary_folder.hpp"

namespace flashbench {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

void write_header(const TemporaryFolder& folder, const std::string& name, const std::string& shape,
                  const std::string& order = "False") {
  std::string header =
      "{'descr': '<f4', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string text = std::string("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  folder.write(name, text + header);
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
  write_header(folder, "a.npy", "(2, 0, 7, 64)");
  write_header(folder, "b.npy", "(5,)");
  write_header(folder, "c.npy", "()");
  EXPECT_THAT(npy_shape(folder / "a.npy"), ElementsAre(2, 0, 7, 64));
  EXPECT_THAT(npy_shape(folder / "b.npy"), ElementsAre(5));
  EXPECT_THAT(npy_shape(folder / "c.npy"), ElementsAre());
}

TEST(NpyShape, RefusesWhatIsNone) {
  const TemporaryFolder folder;
  folder.write("text.npy", "hello, this is text");
  folder.write("short.npy", std::string("\x93NUMPY\x01\x00\x76\x00{", 11));
  write_header(folder, "fortran.npy", "(1, 2)", "True");
  for (const char* name : {"text.npy", "short.npy", "fortran.npy", "missing.npy"})
    EXPECT_THAT(refusal([&] { npy_shape(folder / name); }), HasSubstr(name));
}

class Loaded : public testing::Test {
 protected:
  void SetUp() override {
    write_header(folder, "q.npy", "(2, 5, 8, 64)");
    write_header(folder, "k.npy", "(2, 3, 4, 64)");
    write_header(folder, "v.npy", "(2, 3, 4, 64)");
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
  write_header(folder, "do.npy", "(2, 5, 8, 64)");
  EXPECT_NO_THROW(load(sweep));
}

TEST_F(Loaded, ShapesMustFitTogether) {
  write_header(folder, "v.npy", "(2, 4, 4, 64)");
  EXPECT_THAT(refusal([&] { load({}); }), HasSubstr("v.npy"));
}

}  // namespace
}  // namespace flashbench
