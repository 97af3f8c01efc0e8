// Config files: every mistake is named where it stands, and the schema knows what the reader knows.
#include "plan/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "support/temporary_folder.hpp"

namespace flashbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string refusal(const std::string& text) {
  try {
    parse_config(text, "c.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

struct Wrong {
  const char *name, *text;
  std::vector<const char*> named;
};

class WrongConfig : public testing::TestWithParam<Wrong> {};
TEST_P(WrongConfig, IsNamedWhereItStands) {
  const std::string said = refusal(GetParam().text);
  EXPECT_THAT(said, testing::StartsWith("c.json"));
  for (const char* part : GetParam().named) EXPECT_THAT(said, HasSubstr(part));
}
INSTANTIATE_TEST_SUITE_P(
    Config, WrongConfig,
    testing::Values(
        Wrong{"misspelt",
              R"({"sweeps":[{},{"headdim":[64]}]})",
              {"$.sweeps[1].headdim", "\"head-dim\""}},
        Wrong{"misspelt_setting",
              R"({"measurement":{"sample":5},"sweeps":[{}]})",
              {"$.measurement.sample", "\"samples\""}},
        Wrong{"setting_in_a_sweep",
              R"({"sweeps":[{"seq":64,"iters":5}]})",
              {"$.sweeps[0].iters", "belongs into \"measurement\""}},
        Wrong{"sweep_key_in_measurement",
              R"({"measurement":{"seq":64},"sweeps":[{}]})",
              {"$.measurement.seq", "belongs into an object of \"sweeps\""}},
        Wrong{"number_too_large",
              R"({"sweeps":[{},{"scale":[1,1e999]}]})",
              {"$.sweeps[1].scale[1]", "1e999"}},
        Wrong{"wrong_case", R"({"Iters":5})", {"$.Iters", "\"iters\"", "measurement"}},
        Wrong{"sweep_key_at_top", R"({"seq":[512],"seq":[1024]})", {"$.seq", "twice", "sweeps"}},
        Wrong{"repeated_deep",
              R"({"sweeps":[{"seq":1},{"seq":1,"seq":2}]})",
              {"$.sweeps[1].seq", "twice"}},
        Wrong{"near_value_at_top", R"({"dtype":"fp61"})", {"$.dtype", "fp61", "\"fp16\""}},
        Wrong{"near_value",
              R"({"sweeps":[{"dtype":["fp16","fp61"]}]})",
              {"$.sweeps[0].dtype[1]", "\"fp16\""}},
        Wrong{
            "causal_text", R"({"sweeps":[{"causal":"true"}]})", {"$.sweeps[0].causal", "\"true\""}},
        Wrong{"causal_at_top", R"({"causal":"true"})", {"$.causal"}},
        Wrong{"integer_is_text", R"({"sweeps":[{"batch":"3x2"}]})", {"$.sweeps[0].batch", "3x2"}},
        Wrong{"integer_is_real", R"({"sweeps":[{"batch":3.5}]})", {"$.sweeps[0].batch", "3.5"}},
        Wrong{
            "integer_is_null", R"({"sweeps":[{"seq":[1,null]}]})", {"$.sweeps[0].seq[1]", "null"}},
        Wrong{"word_is_number", R"({"sweeps":[{"impl":2}]})", {"$.sweeps[0].impl"}},
        Wrong{"flag_is_text",
              R"({"measurement":{"strict":"yes"},"sweeps":[{}]})",
              {"$.measurement.strict", "true or false"}},
        Wrong{"trailing_comma", "{\"sweeps\":[\n {\"seq\":64,}\n]}", {"line 2", "column"}},
        Wrong{"no_text", "", {"line 1"}}, Wrong{"no_object", "[]", {"$", "object"}},
        Wrong{"no_sweeps", "{}", {"sweeps"}},
        Wrong{"empty_sweeps", R"({"sweeps":[]})", {"$.sweeps", "empty"}},
        Wrong{"empty_axis", R"({"sweeps":[{"seq":[]}]})", {"$.sweeps[0].seq", "empty"}},
        Wrong{"mask_and_causal", R"({"sweeps":[{"mask":"full","causal":true}]})", {"$.sweeps[0]"}},
        Wrong{"iters_and_samples",
              R"({"measurement":{"samples":20,"iters":5},"sweeps":[{}]})",
              {"$.measurement", "\"iters\"", "\"samples\"", "exact count"}},
        Wrong{"iters_and_time_budget",
              R"({"measurement":{"iters":5,"time-budget":1},"sweeps":[{}]})",
              {"$.measurement", "\"iters\"", "\"time-budget\""}},
        Wrong{"iters_and_precision",
              R"({"measurement":{"iters":5,"precision":"1%"},"sweeps":[{}]})",
              {"$.measurement", "\"iters\"", "\"precision\""}},
        Wrong{"no_check_and_check_only",
              R"({"measurement":{"no-check":true,"check-only":true},"sweeps":[{}]})",
              {"$.measurement", "\"no-check\"", "\"check-only\""}},
        Wrong{"backend",
              R"({"sweeps":[{"backend":"cudda"}]})",
              {"$.sweeps[0].backend", "cudda", "\"cuda\""}},
        Wrong{"view_is_number", R"({"view":1,"sweeps":[{}]})", {"$.view"}},
        Wrong{"loaded", R"({"sweeps":[{"init":"loaded"}]})", {"$.sweeps[0].init"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Config, BottomlessNestingIsRefused) {
  const std::string lists = std::string(300000, '[') + std::string(300000, ']');
  EXPECT_THAT(refusal(R"({"sweeps":[{"seq":)" + lists + "}]}"), HasSubstr("nested too deeply"));
}

TEST(Config, SeveralMistakesAreAllNamed) {
  const std::string said = refusal(R"({"sweeps":[{"sqe":1,"dtype":"fp61"}],"divice":"cpu"})");
  for (const char* part : {"3 mistakes", "\"seq\"", "\"fp16\"", "\"device\""})
    EXPECT_THAT(said, HasSubstr(part));
}

TEST(Config, SaysWhatTheFlagsWouldSay) {
  const UserRequest read = parse_config(R"(// a comment
    {"name": "n", "description": "d", "device": "cpu",
     "measurement": {"iters": 5, "check-only": true, "no-check": false, "cache": "warm"},
     "view": "memory",
     "sweeps": [ /* another */
       {"impl": ["v*", "naive"], "seq": "64:256:*2", "batch": ["auto", 2], "causal": [true, false],
        "scale": -0.125, "threshold": "2%"},
       {"cache": "cold", "backend": "cuda"}]})",
                                        "c.json");
  ASSERT_EQ(read.sweeps.size(), 2u);
  const Sweep& first = read.sweeps[0];
  EXPECT_THAT(first.impl, ElementsAre("v*", "naive"));
  EXPECT_THAT(first.seq, ElementsAre(64, 128, 256));
  EXPECT_THAT(first.batch, ElementsAre(automatic, 2));
  EXPECT_THAT(first.mask, ElementsAre(Mask::causal, Mask::full));
  EXPECT_THAT(first.scale, ElementsAre(-0.125));
  EXPECT_THAT(first.cache, ElementsAre(Cache::warm));
  EXPECT_DOUBLE_EQ(first.threshold.value_or(0), 0.02);
  EXPECT_THAT(read.sweeps[1].cache, ElementsAre(Cache::cold));
  EXPECT_EQ(read.sweeps[1].backend, Backend::cuda);
  EXPECT_EQ(read.options.view, "memory");
  EXPECT_EQ(read.options.device, "cpu");
  EXPECT_EQ(read.options.iters, 5);
  const std::string percent = R"({"measurement":{"precision":"1%"},"sweeps":[{}]})";
  EXPECT_DOUBLE_EQ(parse_config(percent, "c.json").options.precision, 0.01);
  EXPECT_EQ(read.options.check, Check::only);
}

TEST(Config, TheInstalledOnesAreReadByName) {
  const std::vector<std::string> names = installed_configs();
  EXPECT_THAT(names, testing::IsSupersetOf({"quick", "document-throughput",
                                            "document-implementations", "document-memory"}));
  for (const std::string& name : names) EXPECT_NO_THROW(read_config(name)) << name;
}

TEST(Config, AnUnknownNameNamesTheNearest) {
  try {
    read_config("quik");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"quick\""));
  }
  EXPECT_THROW(read_config("/no/such.json"), UsageError);
}

std::set<std::string> keys_of(const nlohmann::json& object) {
  EXPECT_EQ(object.at("additionalProperties"), false);
  std::set<std::string> keys;
  for (const auto& [key, value] : object.at("properties").items()) keys.insert(key);
  return keys;
}

TEST(Config, SchemaAndReaderKnowTheSameKeys) {
  std::ifstream file(FLASHBENCH_SOURCE "/configs/schema/config.schema.json");
  const auto schema = nlohmann::json::parse(file);
  const auto set = [](const std::vector<std::string>& keys) {
    return std::set<std::string>(keys.begin(), keys.end());
  };
  const ConfigKeys keys = config_keys();
  EXPECT_EQ(keys_of(schema), set(keys.top));
  EXPECT_EQ(keys_of(schema.at("properties").at("measurement")), set(keys.measurement));
  EXPECT_EQ(keys_of(schema.at("properties").at("sweeps").at("items")), set(keys.sweep));
}

}  // namespace
}  // namespace flashbench
