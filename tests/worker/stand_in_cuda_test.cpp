// A CUDA worker without a GPU tells costs by the figures of a stand-in, and does nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/index.hpp"
#include "worker/backend_cuda.hpp"
#include "worker/peer.hpp"
#include "worker/serve.hpp"

namespace flashbench::testing {
namespace {

using ::testing::HasSubstr;

int serve_builtin(int descriptor) {
  CudaBackend backend;
  return serve(kernels::builtin(), {}, backend, descriptor);
}

Problem fp16() {
  Problem problem;
  problem.batch = 2;
  problem.heads = problem.kv_heads = 16;
  problem.seq_q = problem.seq_k = 4096;
  problem.head_dim = 128;
  problem.dtype = Dtype::fp16;
  problem.scale = 0.1;
  return problem;
}

// An ordinal that no machine has.
TEST(StandIn, GivesTheCostsOfEveryPass) {
  Peer worker(serve_builtin);
  const auto hello = worker.ok<reply::Hello>(request::Hello{"99"});
  EXPECT_FALSE(hello.device);
  EXPECT_EQ(hello.stand_in, "NVIDIA H200");
  for (const char* impl : {"naive", "v1", "v2"})
    for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
      const auto described = worker.ok<reply::Describe>(request::Describe{fp16(), impl, pass});
      EXPECT_FALSE(described.cost.kernels.empty());
      EXPECT_FALSE(described.room_bytes) << "nobody's memory";
    }
  const auto naive = worker.ok<reply::Describe>(request::Describe{fp16(), "naive", Pass::fwd});
  EXPECT_GE(naive.cost.workspace_bytes, std::int64_t{2} * 2 * 16 * 4096 * 4096);
}

// A rung is asked for the passes that it has: a backward's forward is there for its statistics.
TEST(StandIn, SaysOfARungWhichPassItHasNot) {
  Peer worker(serve_builtin);
  worker.ok<reply::Hello>(request::Hello{"99"});
  Problem problem = fp16();
  problem.dtype = Dtype::bf16;
  const auto refusal = [&](const char* impl, Pass pass) {
    const Reply reply = worker.ask(request::Describe{problem, impl, pass});
    EXPECT_EQ(reply.status, Status::unsupported) << impl;
    return reply.reason;
  };
  EXPECT_EQ(refusal("ladder/q-outer", Pass::bwd), "ladder/q-outer has no backward");
  EXPECT_EQ(refusal("ladder/q-outer", Pass::fwd_bwd), "ladder/q-outer has no backward");
  EXPECT_EQ(refusal("ladder/d-once", Pass::fwd), "ladder/d-once has no forward of its own");
  EXPECT_EQ(refusal("ladder/d-once", Pass::fwd_bwd), "ladder/d-once has no forward of its own");
  const Reply backward = worker.ask(request::Describe{problem, "ladder/d-once", Pass::bwd});
  if (backward.status == Status::ok)  // and else the GPU is not the one that rungs are built for
    EXPECT_EQ(std::get<reply::Describe>(*backward.body).cost.saves,
              (std::vector<std::string>{"m", "l"}));
  else
    EXPECT_THAT(backward.reason, HasSubstr("built for sm_"));
}

TEST(StandIn, RunsNothing) {
  Peer worker(serve_builtin);
  worker.ok<reply::Hello>(request::Hello{"99"});
  const Reply refused = worker.ask(request::Prepare{fp16(), Pass::fwd, {{1, ""}}});
  EXPECT_EQ(refused.status, Status::failed);
  EXPECT_THAT(refused.reason, HasSubstr("no usable device"));
}

}  // namespace
}  // namespace flashbench::testing
