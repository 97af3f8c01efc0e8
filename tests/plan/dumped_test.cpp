// --load of a folder that --dump wrote: what its case.json says counts where no option does.
#include "plan/dumped.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/messages.hpp"
#include "support/temporary_folder.hpp"

namespace flashbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Dumped : public testing::Test {
 protected:
  Sweep load(Backend backend = Backend::cpu) {
    notices.clear();
    sweep.head_dim = {64};  // as the files say
    const std::string dir = folder.path().string();
    return with_dumped_problem(sweep, {dir, {}, {}, {}, {}, read_dumped(dir)}, backend, notices);
  }
  void dump(const Problem& problem) {
    folder.write("case.json", case_text({"v2", Pass::fwd, 0, "", "", true}, problem, false));
  }
  static Problem unusual() {
    Problem problem;
    problem.head_dim = 64;
    problem.dtype = Dtype::bf16;
    problem.mask = Mask::causal;
    problem.scale = 0.5;
    problem.layout = Layout::bhsd;
    return problem;
  }
  test::TemporaryFolder folder;
  Sweep sweep;
  std::vector<std::string> notices;
};

TEST_F(Dumped, ProblemIsTheDefault) {
  dump(unusual());
  const Sweep loaded = load();
  EXPECT_THAT(loaded.dtype, ElementsAre(Dtype::bf16));
  EXPECT_THAT(loaded.mask, ElementsAre(Mask::causal));
  EXPECT_THAT(loaded.scale, ElementsAre(0.5));
  EXPECT_THAT(loaded.layout, ElementsAre(Layout::bhsd));
  EXPECT_THAT(notices, ElementsAre(AllOf(
                           HasSubstr(folder / "case.json"),
                           HasSubstr("--dtype bf16; --mask causal; --scale 0.5; --layout bhsd"))));
}

TEST_F(Dumped, ProblemIsOverruledByOptionsWithANotice) {
  dump(unusual());
  sweep.mask = {Mask::full};
  sweep.scale = {0.25, 0.5};
  const Sweep loaded = load();
  EXPECT_THAT(loaded.mask, ElementsAre(Mask::full));
  EXPECT_THAT(loaded.scale, ElementsAre(0.25, 0.5));
  EXPECT_THAT(notices, ElementsAre(HasSubstr("--dtype bf16; --layout bhsd"),
                                   HasSubstr("--mask full, not causal")));
}

TEST_F(Dumped, ProblemThatIsTheUsualOneNeedsNoNotice) {
  Problem usual;
  usual.head_dim = 64;
  usual.scale = 0.125;
  dump(usual);
  EXPECT_THAT(load().dtype, ElementsAre(Dtype::fp32));
  EXPECT_THAT(notices, IsEmpty());
  EXPECT_THAT(load(Backend::cuda).dtype, ElementsAre(Dtype::fp32));
  EXPECT_THAT(notices, ElementsAre(HasSubstr("--dtype fp32"))) << "not the usual one on a GPU";
}

TEST_F(Dumped, FoldersWithoutACaseAreAsTheyWere) {
  const Sweep loaded = load();
  EXPECT_THAT(loaded.mask, IsEmpty());
  EXPECT_THAT(notices, IsEmpty());
}

TEST_F(Dumped, CasesThatCannotBeReadAreRefusedNamingTheFile) {
  for (const char* text : {"no JSON", "[]", R"({"mask": "sideways"})", R"({"scale": "big"})"}) {
    folder.write("case.json", text);
    try {
      load();
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(folder / "case.json"));
    }
  }
}

}  // namespace
}  // namespace flashbench
