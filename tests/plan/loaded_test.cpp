// --load: shapes come from the files, and what contradicts them is refused.
#include "plan/loaded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "plan/config.hpp"
#include "support/npy_file.hpp"

namespace flashbench {
namespace {

using test::TemporaryFolder;
using test::write_npy;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

class Loaded : public testing::Test {
 protected:
  void SetUp() override {
    write_npy(folder, "q.npy", {"(2, 5, 8, 64)"});
    write_npy(folder, "k.npy", {"(2, 3, 4, 64)"});
    write_npy(folder, "v.npy", {"(2, 3, 4, 64)"});
  }
  Sweep load(const Sweep& sweep) {
    return with_loaded_shapes(sweep, read_loaded(folder.path().string(), {sweep}));
  }
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

TEST_F(Loaded, OfTheFolderAboveThoseOfADumpNamesOneOfThem) {
  const TemporaryFolder above;
  const auto row = above.path() / "v2,fwd";
  std::filesystem::create_directory(row);
  std::filesystem::copy(folder.path(), row);
  EXPECT_THAT(refusal([&] { read_loaded(above.path().string(), {Sweep{}}); }),
              AllOf(HasSubstr("has no q.npy"), HasSubstr(row.string())));
}

TEST_F(Loaded, FlagsMayRepeatThemButNotContradict) {
  Sweep sweep;
  sweep.seq = {5};
  EXPECT_NO_THROW(load(sweep));
  sweep.seq = {6};
  EXPECT_THAT(refusal([&] { load(sweep); }), HasSubstr("--seq: 6"));
}

TEST_F(Loaded, AConfigThatContradictsThemIsNamed) {
  const UserRequest read = parse_config(R"({"sweeps": [{"seq": 6, "seq-k": "3"}]})", "c.json");
  EXPECT_EQ(refusal([&] { load(read.sweeps[0]); }),
            "c.json: $.sweeps[0].seq: 6 contradicts --load, whose files say 5");
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
