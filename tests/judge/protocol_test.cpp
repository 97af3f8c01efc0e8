#include <gmock/gmock.h>

#include "judge/judge.hpp"
#include "worker/peer.hpp"

namespace flashbench::judge {
namespace {

using flashbench::testing::Folder;
using ::testing::HasSubstr;

const Tell quiet = [](double, double, const std::string&) {};

Problem causal(std::int64_t length) {
  Problem problem;
  problem.seq_q = problem.seq_k = length;
  problem.head_dim = 64;
  problem.dtype = Dtype::fp16;
  problem.mask = Mask::causal;
  problem.scale = 0.125;
  return problem;
}

TEST(Judge, SaysWhatIsWrongWithAFolder) {
  Judge judge(cpu_reference());
  judge.prepare({causal(64), Pass::fwd, {{1, ""}}}, quiet);
  EXPECT_THROW(judge.judge({Pass::fwd, 0, "/nowhere", "v2"}, quiet), std::runtime_error);
  EXPECT_THROW(judge.judge({Pass::fwd, 3, "/nowhere", "v2"}, quiet), Refusal);
}

// Prepares; says why not, or nothing.
std::string refusal(const Problem& problem, const std::vector<InputSet>& sets) {
  try {
    Judge(cpu_reference()).prepare({problem, Pass::bwd, sets}, quiet);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status, Status::unsupported);
    return refusal.what();
  }
  return "";
}

TEST(Judge, RefusesAScaleThatTakesScoresBeyondFp32AndNamesOneThatFits) {
  const std::vector<InputSet> sets{{1, ""}, {2, ""}};
  for (const double sign : {1, -1})
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
      Problem problem = causal(64);
      problem.dtype = dtype;
      problem.scale = sign * 1e38;
      const std::string why = refusal(problem, sets);
      ASSERT_THAT(why, HasSubstr("fits these inputs is "));
      const double fits = std::stod(why.substr(why.rfind(' ')));
      EXPECT_GT(fits, 1e35);
      problem.scale = sign * fits;
      EXPECT_EQ(refusal(problem, sets), "");
      problem.scale = sign * fits * 1.02;
      EXPECT_THAT(refusal(problem, sets), HasSubstr("fits these inputs is "));
    }
}

TEST(Judge, TakesAnyScaleWhereScoresAreSmall) {
  Problem problem = causal(64);
  problem.init = Init::zeros;
  for (const double scale : {3e38, -3e38, 0.0}) {
    problem.scale = scale;
    EXPECT_EQ(refusal(problem, {{1, ""}}), "") << scale;
  }
}

TEST(Judge, TellsOfFinishedWorkOnWhicheverThread) {
  const Problem problem = causal(1024);
  std::vector<double> done;
  const Tell tell = [&](double so_far, double of, const std::string& what) {
    if (what != "judging") return;
    EXPECT_EQ(of, 2);  // 16 blocks, 8 to a run
    done.push_back(so_far);
  };
  const Folder folder;
  const std::vector<float> o(1024 * 64);
  write_npy(folder / "o.npy", {1, 1024, 1, 64}, NpyType::f4, o.data());
  for (int attempt = 0; attempt < 20; ++attempt) {
    Judge judge(cpu_reference());
    judge.prepare({problem, Pass::fwd, {{1, ""}}}, quiet);
    done.clear();
    judge.judge({Pass::fwd, 0, folder.path(), "v2"}, tell);
    EXPECT_EQ(done, (std::vector<double>{1, 2}));
  }
}

TEST(Judge, TalksTheProtocol) {
  flashbench::testing::Peer peer([](int end) {
    Judge judge(cpu_reference());
    return answer_requests(
        end, [&](const request::Any& body, const Tell& tell) { return judge.answer(body, tell); });
  });
  EXPECT_EQ(peer.ok<reply::Hello>(request::Hello{"cpu"}).tool, "flashbench-judge");
  const auto prepared =
      peer.ok<reply::Prepare>(request::Prepare{causal(64), Pass::fwd, {{1, ""}, {2, ""}}});
  EXPECT_EQ(prepared.checksums.size(), 2u);
  EXPECT_EQ(peer.ask(request::Run{}).status, Status::unsupported);
  const Reply reply = peer.ask(request::Judge{Pass::fwd, 0, "/nowhere", "v2"});
  EXPECT_EQ(reply.status, Status::failed);
  EXPECT_THAT(reply.reason, HasSubstr("/nowhere/o.npy"));
  peer.ok<reply::Drop>(request::Drop{});
  peer.ok<reply::Bye>(request::Bye{});
  EXPECT_EQ(peer.wait(), 0);
}

}  // namespace
}  // namespace flashbench::judge
