// The GPU's counters over a libcupti whose answers the tests choose: what is counted, and what
// stands in the way of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/places.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"
#include "worker/answer.hpp"
#include "worker/counters.hpp"

#ifdef FLASHBENCH_FAKE_CUPTI
#include "worker/cupti_cuda.hpp"

namespace flashbench::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

class Counters : public ::testing::Test {
 protected:
  Counters() {
    setenv("FLASHBENCH_CUPTI", FLASHBENCH_FAKE_CUPTI, 1);
    setenv("FAKE_CUPTI_LOG", log_.c_str(), 1);
    behave("");
  }
  static void behave(const char* words) { setenv("FAKE_CUPTI", words, 1); }
  void note(const std::string& line) const { std::ofstream(log_, std::ios::app) << line << "\n"; }
  // What the GPU saw since the last call.
  std::vector<std::string> seen() {
    const auto lines = test::lines_of(test::read_file(log_));
    std::filesystem::remove(log_);
    return lines;
  }
  HardwareCounters::Values count(HardwareCounters& counters,
                                 const std::vector<std::string>& metrics) const {
    return counters.count(
        metrics, [&] { note("flush"); }, [&] { note("run"); });
  }
  // Of opening, or of counting.
  Refusal refusal(const std::vector<std::string>& metrics = {"a.sum"}) const {
    try {
      count(*open_counters(0), metrics);
    } catch (const Refusal& refusal) {
      return refusal;
    }
    ADD_FAILURE() << "it was not refused";
    return {Status::ok, ""};
  }

 private:
  test::TemporaryFolder folder_;
  std::string log_ = folder_ / "log";
};

TEST_F(Counters, CountOneWholeRunAPassAndNoFlush) {
  const auto counters = open_counters(0);
  EXPECT_THAT(seen(), ElementsAre("enable", "disable")) << "whether it may, and nothing else";
  EXPECT_THAT(count(*counters, {"a.sum", "abc.sum"}),
              ElementsAre(Pair("a.sum", 5.0), Pair("abc.sum", 7.0)));
  EXPECT_THAT(seen(), ElementsAre("enable", "start", "flush", "push", "run", "pop", "stop", "start",
                                  "flush", "push", "run", "pop", "stop", "decode", "disable"));
}

TEST_F(Counters, AMetricThatTheChipLacksOrCannotCountLeavesTheOthers) {
  for (const char* fault : {"unknown=b.sum", "uncountable=b.sum"}) {
    behave(fault);
    EXPECT_THAT(count(*open_counters(0), {"a.sum", "b.sum"}),
                ElementsAre(Pair("a.sum", 5.0), Pair("b.sum", std::nullopt)))
        << fault;
  }
  seen();
  EXPECT_THAT(count(*open_counters(0), {"b.sum"}), ElementsAre(Pair("b.sum", std::nullopt)));
  EXPECT_THAT(seen(), ElementsAre("enable", "disable")) << "nothing is left to count";
}

TEST_F(Counters, ADriverThatForbidsThemIsSaidWithTheWayOut) {
  for (const char* call : {"initialize=35", "availability=35", "enable=35"}) {
    behave(call);
    const Refusal refused = refusal();
    EXPECT_EQ(refused.status, Status::unsupported) << call;
    EXPECT_THAT(refused.what(), AllOf(StartsWith("the driver forbids them: "),
                                      HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
  }
}

TEST_F(Counters, OtherObstaclesAreToldApart) {
  const std::pair<const char*, const char*> obstacles[] = {
      {"enable=40", "the hypervisor forbids them: "},
      {"enable=26", "they are in use: another profiler"},
      {"enable=43", "not as this GPU is set up: "},
      {"support=1", "not of this GPU: "},
      {"chip=GZ999", "not of this GPU: "}};
  for (const auto& [words, begins] : obstacles) {
    behave(words);
    const Refusal refused = refusal();
    EXPECT_EQ(refused.status, Status::unsupported) << words;
    EXPECT_THAT(refused.what(), StartsWith(begins)) << words;
  }
}

TEST_F(Counters, AnyOtherErrorNamesTheCall) {
  behave("initialize=999");
  const Refusal refused = refusal();
  EXPECT_EQ(refused.status, Status::failed);
  EXPECT_STREQ(refused.what(), "CUPTI failed: cuptiProfilerInitialize: AN_ERROR");
}

TEST_F(Counters, WhatGoesWrongInAPassEndsTheProfilingOfTheContext) {
  behave("stop=9");
  EXPECT_THAT(refusal().what(), HasSubstr("cuptiRangeProfilerStop"));
  EXPECT_EQ(seen().back(), "disable");
  behave("");
  const auto counters = open_counters(0);
  EXPECT_THROW(counters->count(
                   {"a.sum"}, [] {}, [] { throw std::runtime_error("a launch"); }),
               std::runtime_error);
  const auto lines = seen();
  EXPECT_EQ(lines.at(lines.size() - 2), "stop");
  EXPECT_EQ(lines.back(), "disable");
}

TEST_F(Counters, ARangeThatIsLostIsNoFigure) {
  behave("dropped=1");
  EXPECT_THAT(refusal().what(), HasSubstr("lost 1"));
}

TEST_F(Counters, PassesComeToAnEnd) {
  behave("endless=1 passes=3");
  EXPECT_THAT(refusal().what(), HasSubstr("not done after its 3 passes"));
}

TEST_F(Counters, AMissingLibraryIsSaidWithWhereItComesFrom) {
  setenv("FLASHBENCH_CUPTI", "/nowhere/libcupti.so", 1);
  try {
    open_cupti();
    FAIL() << "it was opened";
  } catch (const Refusal& refused) {
    EXPECT_EQ(refused.status, Status::unsupported);
    EXPECT_THAT(refused.what(), AllOf(StartsWith("CUPTI is not here: "), HasSubstr("CUDA_HOME")));
  }
}

TEST_F(Counters, ALibraryOfAnOlderToolkitIsSaidToBeTooOld) {
  setenv("FLASHBENCH_CUPTI", test::fake_nvml, 1);  // which has none of its functions
  try {
    open_cupti();
    FAIL() << "it was taken";
  } catch (const Refusal& refused) {
    EXPECT_EQ(refused.status, Status::unsupported);
    EXPECT_THAT(refused.what(), AllOf(StartsWith("CUPTI is too old: "), HasSubstr("CUDA 12.6")));
  }
}

TEST_F(Counters, TheLibraryIsLookedForInTheToolkitsToo) {
  unsetenv("FLASHBENCH_CUPTI");
  setenv("CUDA_HOME", "/opt/cuda-x", 1);
  const auto places = cupti_places();
  unsetenv("CUDA_HOME");
  EXPECT_EQ(places.front(), "libcupti.so.13");
  EXPECT_THAT(places, ::testing::Contains("/opt/cuda-x/extras/CUPTI/lib64/libcupti.so.12"));
  EXPECT_THAT(places, ::testing::Contains("/usr/local/cuda/lib64/libcupti.so.13"));
}

}  // namespace
}  // namespace flashbench::testing

#else  // built without CUPTI

TEST(Counters, AreRefusedByABuildWithoutCupti) {
  try {
    flashbench::open_counters(0);
    FAIL() << "it was opened";
  } catch (const flashbench::Refusal& refused) {
    EXPECT_EQ(refused.status, flashbench::Status::unsupported);
    EXPECT_THAT(refused.what(), ::testing::StartsWith("built without CUPTI: "));
  }
}

#endif
