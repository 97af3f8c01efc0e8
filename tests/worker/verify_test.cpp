// scripts/verify against folders that a worker wrote: two judges that share no code agree.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/npy.hpp"
#include "worker/peer.hpp"
#include "worker/serve.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;

int verify(const std::string& dir) {
  const int status = std::system((FLASHBENCH_SOURCE "/scripts/verify " + dir).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_numpy() {
  return std::system("python3 -c 'import numpy' 2>/dev/null || test -x " FLASHBENCH_SOURCE
                     "/.venv/bin/python") == 0;
}

TEST(Verify, AgreesWithTheJudge) {
  if (!has_numpy()) GTEST_SKIP() << "there is no NumPy; scripts/verify would install one";
  Folder folder;
  Peer peer([](int end) {
    CpuBackend backend;
    return serve(fake_plugin(), {}, backend, end);
  });
  peer.ok<reply::Hello>(request::Hello{"cpu"});
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    Problem problem;
    problem.heads = 4;
    problem.kv_heads = 2;
    problem.seq_q = 100;
    problem.seq_k = 70;
    problem.head_dim = 16;
    problem.dtype = dtype;
    problem.mask = Mask::causal;
    problem.scale = 0.25;
    problem.layout = Layout::bhsd;
    peer.ok<reply::Prepare>(request::Prepare{problem, Pass::fwd, {{1, ""}}});
    request::Output output;
    output.impl = "good";
    output.inputs = true;
    output.dir = folder / std::string(name(dtype));
    peer.ok<reply::Output>(output);
  }
  EXPECT_EQ(verify(folder.path()), 0);
  std::vector<float> o(100 * 4 * 16, 0.5f);
  write_npy(folder / "fp16/o.npy", {1, 100, 4, 16}, NpyType::f4, o.data());
  EXPECT_EQ(verify(folder.path()), 1);
  EXPECT_EQ(verify("/nowhere"), 2);
}

}  // namespace
}  // namespace flashbench
