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

TEST(StandIn, RunsNothing) {
  Peer worker(serve_builtin);
  worker.ok<reply::Hello>(request::Hello{"99"});
  const Reply refused = worker.ask(request::Prepare{fp16(), Pass::fwd, {{1, ""}}});
  EXPECT_EQ(refused.status, Status::failed);
  EXPECT_THAT(refused.reason, HasSubstr("no usable device"));
}

}  // namespace
}  // namespace flashbench::testing
