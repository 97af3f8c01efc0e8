#include "record/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "record/json.hpp"
#include "record/rows.hpp"

namespace flashbench {
namespace {

using ::testing::HasSubstr;

TEST(Request, of_every_kind_reads_back) {
  const Problem problem = testing::problem();
  const std::vector<request::Any> bodies{
      request::Hello{"0"},
      request::Describe{problem, "v2", Pass::bwd},
      request::Prepare{problem, Pass::fwd_bwd, {{18446744073709551615u, ""}, {2, "/in"}}},
      request::Output{"v2", Pass::bwd, 1, "/out", "naive", true},
      request::Judge{Pass::bwd, 1, "/out", "naive", true},
      request::Run{"v2", Pass::fwd, 12.5, std::nullopt, Cache::warm, 1},
      request::Run{"v2", Pass::fwd, std::nullopt, 100, Cache::cold, 0},
      request::Profile{"v2", Pass::bwd, "v2/bwd/b1"},
      request::Ceiling{"copy", 5},
      request::Count{"v2", Pass::fwd, {"dram"}, Cache::warm},
      request::Drop{},
      request::Bye{}};
  for (const auto& body : bodies) {
    const std::string line = to_line(Request{7, body});
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Request back = parse_request(line);
    EXPECT_EQ(back.id, 7);
    EXPECT_EQ(back.body.index(), body.index());
    EXPECT_EQ(to_line(back), line);
  }
}

TEST(Request, carries_seeds_of_64_bits) {
  const Request back = parse_request(
      to_line(Request{1, request::Prepare{{}, Pass::fwd, {{18446744073709551615u, ""}}}}));
  EXPECT_EQ(std::get<request::Prepare>(back.body).sets[0].seed, 18446744073709551615u);
}

TEST(Reply, of_every_kind_reads_back) {
  DeviceFacts device;
  device.name = "NVIDIA H200";
  const std::vector<reply::Any> bodies{
      reply::Hello{1,
                   "1",
                   "0.1.0",
                   "built-in",
                   device,
                   "",
                   "NVIDIA H200",
                   {{"v2", "idea", "3", {"fwd"}}},
                   {"copy"}},
      reply::Describe{1, 2, {{{"k", Pipe::mma, 1, 2, {{{"q", 1}}, {{"o", 2}}}}}, 3, {"lse"}}, 1000},
      reply::Prepare{{"a", "b"}, 10},
      reply::Output{
          "h", false, "o overrun", true, 2097152, {{"k", 64, 0, 128, 0, 1, 2, 0.5}}, Counts{}},
      reply::Judge{{{"o", 1e-3, 1e-4, 0.5, std::array<std::int64_t, 4>{0, 1, 2, -1}, 1, 2,
                     Verdict::pass, ""}}},
      reply::Run{{{1.25, 0}, {1.5, 1}}, {"h", ""}, true, "", 0.1, 9, 104857600},
      reply::Profile{{{"k", 64, 0, 128, 0, 1, 2, 0.5}}},
      reply::Ceiling{{1e12, 2e12}},
      reply::Count{{{"dram", 5.0}, {"refused", std::nullopt}}},
      reply::Drop{std::nullopt},
      reply::Bye{}};
  for (const auto& body : bodies) {
    const std::string line = to_line(Reply{3, Status::ok, "", std::nullopt, body});
    const auto back = std::get<Reply>(parse_answer(line));
    EXPECT_EQ(back.body->index(), body.index());
    EXPECT_EQ(to_line(back), line);
  }
}

TEST(Reply, without_a_body_keeps_status_reason_and_needed_bytes) {
  const Reply oom{3, Status::oom, "needs 8 TiB", std::int64_t{1} << 43, std::nullopt};
  const auto back = std::get<Reply>(parse_answer(to_line(oom)));
  EXPECT_EQ(back.status, Status::oom);
  EXPECT_EQ(back.reason, "needs 8 TiB");
  EXPECT_EQ(back.needed_bytes, std::int64_t{1} << 43);
  EXPECT_FALSE(back.body);
}

TEST(Reply, of_a_file_that_could_not_be_written_says_so) {
  Reply failed{3, Status::failed, "the disk is full", std::nullopt, std::nullopt};
  EXPECT_FALSE(std::get<Reply>(parse_answer(to_line(failed))).unwritten);
  failed.unwritten = true;
  EXPECT_TRUE(std::get<Reply>(parse_answer(to_line(failed))).unwritten);
}

TEST(Reply, never_holds_a_number_that_is_not_finite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  reply::Judge judge{{{"o", nan, nan, nan, std::nullopt, 1, 1, Verdict::fail, "NaN in o"}}};
  const auto back =
      std::get<Reply>(parse_answer(to_line(Reply{1, Status::ok, "", std::nullopt, judge})));
  const auto& check = std::get<reply::Judge>(*back.body).tensors[0];
  EXPECT_FALSE(check.max_abs);
  EXPECT_EQ(check.verdict, Verdict::fail);
}

TEST(Progress, is_told_from_a_reply) {
  const auto back = std::get<Progress>(parse_answer(to_line(Progress{4, 2, 8, "inputs"})));
  EXPECT_EQ(back.id, 4);
  EXPECT_EQ(back.done, 2);
  EXPECT_EQ(back.of, 8);
  EXPECT_EQ(back.what, "inputs");
}

std::string error_of(const std::string& line) {
  try {
    parse_request(line);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "";
}

TEST(Request, that_is_broken_is_quoted) {
  EXPECT_THAT(error_of("Segmentation fault"), HasSubstr("Segmentation fault"));
  EXPECT_THAT(error_of(R"({"id":1,"op":"fly"})"), HasSubstr("fly"));
  EXPECT_THAT(error_of(R"({"id":1,"op":"run","pass":"sideways"})"), HasSubstr("fwd+bwd"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("object"));
  EXPECT_THROW(parse_answer("{\"id\":"), ProtocolError);
}

TEST(Case, of_a_dump_is_json_whatever_the_implementation_is_called) {
  request::Output output;
  output.impl = "a \"quoted\" \\ name\n";
  output.pass = Pass::fwd_bwd;
  output.set = 1;
  const Problem problem = testing::problem();
  const Json json = Json::parse(case_text(output, problem, true));
  EXPECT_EQ(json.at("impl"), output.impl);
  EXPECT_EQ(json.at("pass"), "fwd+bwd");
  EXPECT_EQ(json.at("seq_q"), problem.seq_q);
  EXPECT_EQ(json.at("scale"), problem.scale);
  EXPECT_EQ(json.at("dtype"), name(problem.dtype));
  EXPECT_EQ(json.at("rounded_scores"), true);
  EXPECT_EQ(json.at("set"), 1);
}

}  // namespace
}  // namespace flashbench
