// From request and roster to cases.
#include "plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "plan/config.hpp"

namespace flashbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Roster roster_of(Backend backend, std::int64_t capability = 80) {
  WorkerFacts worker;
  worker.source = "built-in";
  worker.backend = backend;
  worker.hello.device.emplace();
  worker.hello.device->compute_capability = capability;
  for (const char* name : {"naive", "v1", "v2", "v3", "ladder/causal_skip", "without/causal_skip"})
    worker.hello.implementations.push_back({name, "", "", {"fwd"}});
  Roster roster;
  roster.backend = backend;
  roster.workers = {worker};
  return roster;
}

UserRequest request_of(const Sweep& sweep) {
  UserRequest request;
  request.sweeps = {sweep};
  return request;
}

std::vector<std::string> names(const Sweep& sweep, const Roster& roster) {
  std::vector<std::string> result;
  Sweep one = sweep;
  one.seq = {64};
  for (const Case& what : make_plan(request_of(one), roster).cases) result.push_back(what.impl);
  return result;
}

std::string refusal(const UserRequest& request, const Roster& roster = roster_of(Backend::cpu)) {
  try {
    make_plan(request, roster);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Plan, WithoutImplTakesThoseOfAPluginToo) {
  Roster roster = roster_of(Backend::cpu);
  WorkerFacts plugin;
  plugin.source = "plugin:mine.so";
  plugin.hello.implementations = {{"mine", "", "", {"fwd"}}};
  roster.workers.push_back(plugin);
  EXPECT_THAT(names({}, roster), ElementsAre("naive", "v1", "v2", "mine"));
}

TEST(Plan, LeavesOutSweepsForAnotherBackend) {
  Sweep on_gpu, on_cpu, on_either;
  on_gpu.seq = {64}, on_cpu.seq = {128}, on_either.seq = {256};
  on_gpu.backend = Backend::cuda, on_cpu.backend = Backend::cpu;
  UserRequest request;
  request.sweeps = {on_gpu, on_cpu, on_either};
  for (Sweep& sweep : request.sweeps) sweep.impl = {"v2"};
  const auto lengths = [&](Backend backend) {
    std::vector<std::int64_t> seq;
    for (const Case& what : make_plan(request, roster_of(backend)).cases)
      seq.push_back(what.problem.seq_q);
    return seq;
  };
  EXPECT_THAT(lengths(Backend::cpu), ElementsAre(128, 256));
  EXPECT_THAT(lengths(Backend::cuda), ElementsAre(64, 256));
  request.sweeps = {on_gpu};
  EXPECT_THAT(refusal(request), HasSubstr("none of the config's sweeps is for the backend cpu"));
}

TEST(Plan, DefaultsOnTheCpu) {
  const Plan plan = make_plan(request_of({}), roster_of(Backend::cpu));
  ASSERT_EQ(plan.cases.size(), 12u);
  EXPECT_EQ(plan.before_filter, 12u);
  Case right;
  right.impl = "naive";
  right.problem.seq_q = right.problem.seq_k = 1024;
  right.problem.scale = 1 / std::sqrt(128.0);
  EXPECT_EQ(plan.cases[0], right);
  EXPECT_EQ(plan.cases[11].problem.seq_q, 8192);
}

TEST(Plan, DefaultsOnAGpu) {
  Sweep sweep;
  sweep.seq = {512, 32768};
  sweep.head_dim = {64, 4096};
  sweep.impl = {"v2"};
  const Plan plan = make_plan(request_of(sweep), roster_of(Backend::cuda));
  ASSERT_EQ(plan.cases.size(), 4u);
  EXPECT_EQ(plan.cases[0].problem.dtype, Dtype::fp16);
  EXPECT_EQ(plan.cases[0].problem.batch, 32);
  EXPECT_EQ(plan.cases[0].problem.heads, 32);
  EXPECT_EQ(plan.cases[0].problem.kv_heads, 32);
  EXPECT_EQ(plan.cases[1].problem.batch, 1);
  EXPECT_EQ(plan.cases[2].problem.heads, 1);
}

TEST(Plan, DefaultImplementationsHaveV3WhereItRuns) {
  EXPECT_THAT(names({}, roster_of(Backend::cuda, 80)), ElementsAre("naive", "v1", "v2"));
  EXPECT_THAT(names({}, roster_of(Backend::cuda, 90)), ElementsAre("naive", "v1", "v2", "v3"));
  EXPECT_THAT(names({}, roster_of(Backend::cpu)), ElementsAre("naive", "v1", "v2"));
}

TEST(Plan, GlobsWithoutASlashLeaveTheLadderOut) {
  const Roster roster = roster_of(Backend::cpu);
  Sweep sweep;
  sweep.impl = {"v*"};
  EXPECT_THAT(names(sweep, roster), ElementsAre("v1", "v2", "v3"));
  sweep.impl = {"all"};
  EXPECT_THAT(names(sweep, roster), ElementsAre("naive", "v1", "v2", "v3"));
  sweep.impl = {"*"};
  EXPECT_THAT(names(sweep, roster), ElementsAre("naive", "v1", "v2", "v3"));
  sweep.impl = {"ladder/*"};
  EXPECT_THAT(names(sweep, roster), ElementsAre("ladder/causal_skip"));
  sweep.impl = {"v2", "without/*", "all"};
  EXPECT_THAT(names(sweep, roster), ElementsAre("v2", "without/causal_skip", "naive", "v1", "v3"));
}

TEST(Plan, GlobsTakeOfTheLadderWhatHasThePass) {
  Roster roster = roster_of(Backend::cpu);
  auto& all = roster.workers[0].hello.implementations;
  all.push_back({"ladder/d_once", "", "", {"bwd"}});
  all.push_back({"ladder/logsumexp", "", "", {"fwd", "bwd"}});
  Sweep sweep;
  sweep.impl = {"ladder/*", "v2"};
  EXPECT_THAT(names(sweep, roster), ElementsAre("ladder/causal_skip", "ladder/logsumexp", "v2"));
  sweep.pass = {Pass::bwd};
  EXPECT_THAT(names(sweep, roster), ElementsAre("ladder/d_once", "ladder/logsumexp", "v2"));
  sweep.pass = {Pass::fwd_bwd};
  EXPECT_THAT(names(sweep, roster), ElementsAre("ladder/logsumexp", "v2"));
  sweep.pass = {Pass::fwd};
  sweep.impl = {"ladder/*", "ladder/d_once"};  // spelt out: its row says why not
  EXPECT_THAT(names(sweep, roster),
              ElementsAre("ladder/causal_skip", "ladder/d_once", "ladder/logsumexp"));
}

TEST(Plan, GlobsOfWhichNothingHasThePassAreRefused) {
  Sweep sweep;
  sweep.impl = {"without/*"};
  sweep.pass = {Pass::bwd};
  EXPECT_THAT(refusal(request_of(sweep)), HasSubstr("has the pass"));
}

TEST(Plan, UnknownImplementationsNameTheNearest) {
  Sweep sweep;
  sweep.impl = {"naiv"};
  EXPECT_THAT(refusal(request_of(sweep)), HasSubstr("did you mean \"naive\""));
  sweep.impl = {"x*"};
  EXPECT_THAT(refusal(request_of(sweep)), HasSubstr("\"x*\" matches no implementation"));
}

TEST(Plan, TheProductHasNoRepeats) {
  Sweep sweep;
  sweep.impl = {"v1", "v2"};
  sweep.seq = {64, 64, 128};
  sweep.batch = {automatic, 1};
  UserRequest request = request_of(sweep);
  request.sweeps.push_back(sweep);
  const Plan plan = make_plan(request, roster_of(Backend::cpu));
  EXPECT_EQ(plan.cases.size(), 4u);
  EXPECT_EQ(plan.before_filter, 4u);
  EXPECT_EQ(plan.cases[0].impl, "v1");
  EXPECT_EQ(plan.cases[1].impl, "v2");
  EXPECT_EQ(plan.cases[1].problem.seq_q, 64);
}

TEST(Plan, KvHeadsMustDivideHeads) {
  Sweep sweep;
  sweep.heads = {8};
  sweep.kv_heads = {3};
  EXPECT_THAT(refusal(request_of(sweep)), HasSubstr("--kv-heads: 3"));
  sweep.kv_heads = {2};
  EXPECT_EQ(make_plan(request_of(sweep), roster_of(Backend::cpu)).cases[0].problem.kv_heads, 2);
}

TEST(Plan, WhatAConfigSaysIsNamedByItsPlaceThere) {
  const auto said = [](const std::string& sweep) {
    return refusal(parse_config(R"({"sweeps": [{"seq": 64}, )" + sweep + "]}", "c.json"));
  };
  EXPECT_THAT(said(R"({"heads": 8, "kv-heads": 3})"),
              StartsWith("c.json: $.sweeps[1].kv-heads: 3 does not divide 8 heads; a divisor"));
  EXPECT_THAT(
      said(R"({"impl": "naiv"})"),
      StartsWith("c.json: $.sweeps[1].impl: no implementation is called \"naiv\"; did you"));
  EXPECT_THAT(said(R"({"impl": "x*"})"), StartsWith("c.json: $.sweeps[1].impl: \"x*\" matches"));
  EXPECT_THAT(
      refusal(parse_config(R"({"sweeps": [{"impl": "without/*", "pass": "bwd"}]})", "c.json")),
      StartsWith("c.json: $.sweeps[0].impl: nothing that its globs match has the pass bwd"));
}

TEST(Plan, TensorsBeyondAddressingAreRefused) {
  Sweep sweep;
  sweep.batch = sweep.heads = sweep.seq = {std::int64_t{1} << 40};
  EXPECT_THAT(refusal(request_of(sweep)), HasSubstr("2^53"));
}

TEST(Plan, EmptySequencesAreAllowed) {
  Sweep sweep;
  sweep.impl = {"v2"};
  sweep.seq = {0, 5};
  sweep.seq_k = {0};
  const Plan plan = make_plan(request_of(sweep), roster_of(Backend::cuda));
  ASSERT_EQ(plan.cases.size(), 2u);
  EXPECT_EQ(plan.cases[0].problem.batch, 1);
  EXPECT_EQ(plan.cases[1].problem.seq_k, 0);
}

TEST(Plan, ScalesAreTakenAsGiven) {
  Sweep sweep;
  sweep.impl = {"v2"};
  sweep.seq = {64};
  sweep.scale = {0, -0.125};
  const Plan plan = make_plan(request_of(sweep), roster_of(Backend::cpu));
  ASSERT_EQ(plan.cases.size(), 2u);
  EXPECT_EQ(plan.cases[0].problem.scale, 0);
  EXPECT_EQ(plan.cases[1].problem.scale, -0.125);
}

TEST(Plan, TheFilterIsAGlobOnTheKey) {
  UserRequest request = request_of({});
  request.sweeps[0].mask = {Mask::full, Mask::causal};
  request.options.filter = "v2/*/causal/*";
  Plan plan = make_plan(request, roster_of(Backend::cpu));
  EXPECT_EQ(plan.cases.size(), 4u);
  EXPECT_EQ(plan.before_filter, 24u);
  request.options.filter = "q1024";  // one of its parts
  EXPECT_EQ(make_plan(request, roster_of(Backend::cpu)).cases.size(), 6u);
  request.options.filter = "v1";  // and not kv1
  EXPECT_EQ(make_plan(request, roster_of(Backend::cpu)).cases.size(), 8u);
  request.options.filter = "nosuch";
  plan = make_plan(request, roster_of(Backend::cpu));
  EXPECT_TRUE(plan.cases.empty());
  EXPECT_EQ(plan.before_filter, 24u);
}

}  // namespace
}  // namespace flashbench
