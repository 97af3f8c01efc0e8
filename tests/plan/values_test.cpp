// Values as users type them: understood whole, or refused with a sentence that quotes them.
#include "plan/values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flashbench {
namespace {

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

TEST(Values, IntegersTakeSuffixes) {
  EXPECT_EQ(parse_integer("0", 0), 0);
  EXPECT_EQ(parse_integer("16k", 1), 16384);
  EXPECT_EQ(parse_integer("2M", 1), 2097152);
  EXPECT_EQ(parse_integer("9223372036854775807", 1), 9223372036854775807);
}

class HalfIntegers : public testing::TestWithParam<const char*> {};
TEST_P(HalfIntegers, AreRefusedAndQuoted) {
  const std::string said = refusal([] { parse_integers(GetParam(), 1); });
  EXPECT_THAT(said, HasSubstr("\"" + std::string(GetParam()) + "\""));
}
INSTANTIATE_TEST_SUITE_P(Values, HalfIntegers,
                         testing::Values("3x2", "1e3", "0x20", "3.5", "-1", "+1", "0", "", "k",
                                         " 1", "99999999999999999999", "9007199254740993k", "1,,2",
                                         "1,", "1:2", "1:8:2", "1:8:*1", "1:8:+0", "8:1:*2",
                                         "1:8:*x", "1:100000000000:+1"));

TEST(Values, RangesIncludeBothEnds) {
  EXPECT_THAT(parse_integers("512:4k:*2", 0), ElementsAre(512, 1024, 2048, 4096));
  EXPECT_THAT(parse_integers("1024:2048:+512", 0), ElementsAre(1024, 1536, 2048));
  EXPECT_THAT(parse_integers("1:10:+4", 0), ElementsAre(1, 5, 9));
  EXPECT_THAT(parse_integers("7,1:4:*2,7", 0), ElementsAre(7, 1, 2, 4, 7));
  EXPECT_THAT(parse_integers("5:5:*2", 0), ElementsAre(5));
  EXPECT_THAT(parse_integers("4611686018427387904:9223372036854775807:*2", 0),
              ElementsAre(4611686018427387904));
}

TEST(Values, ARangeByAFactorCannotLeaveZero) {
  EXPECT_THAT(refusal([] { parse_integers("0:8:*2", 0); }), HasSubstr("0:8:*2"));
}

TEST(Values, FractionsArePercentOrPlain) {
  EXPECT_DOUBLE_EQ(parse_fraction("0.5%"), 0.005);
  EXPECT_DOUBLE_EQ(parse_fraction("0.05"), 0.05);
  for (const char* text : {"5", "100%", "-1%", "%", "1%%", "0,5%", "nan"})
    EXPECT_THAT(refusal([&] { parse_fraction(text); }), HasSubstr("\"")) << text;
  for (const char* text : {"%", "5%%"})
    EXPECT_THAT(refusal([&] { parse_fraction(text); }), HasSubstr("\"" + std::string(text) + "\""));
}

TEST(Values, NumbersAreFinite) {
  EXPECT_EQ(parse_number("-0.125"), -0.125);
  for (const char* text : {"", "inf", "nan", "1e999", "1.0x", "0x1p3"})
    EXPECT_THAT(refusal([&] { parse_number(text); }), HasSubstr("finite")) << text;
}

TEST(Values, WordsNameTheNearest) {
  EXPECT_EQ(parse_word<Pass>("fwd+bwd"), Pass::fwd_bwd);
  EXPECT_THAT(refusal([] { parse_word<Dtype>("fp61"); }), HasSubstr("did you mean \"fp16\""));
}

TEST(Words, NearestForgivesATypingErrorOrTwo) {
  const std::vector<std::string> options{"--seq", "--seq-k", "--head-dim", "--heads", "--impl"};
  EXPECT_EQ(nearest("--sqe", options), "--seq");
  EXPECT_EQ(nearest("--headdim", options), "--head-dim");
  EXPECT_EQ(nearest("--IMPL", options), "--impl");
  EXPECT_EQ(nearest("--completely-else", options), "");
  EXPECT_EQ(nearest("", options), "");
  EXPECT_EQ(nearest("V1", {"v1", "v2"}), "v1");
  EXPECT_EQ(nearest("v3", {"v1", "v2"}), "");
  EXPECT_EQ(did_you_mean("xyzzy", options), "");
}

}  // namespace
}  // namespace flashbench
