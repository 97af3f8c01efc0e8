// The worker program with the built-in CPU implementations, and the judge program, as processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "support/places.hpp"
#include "worker/peer.hpp"
#include "worker/spawn.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;

TEST(Programs, JudgePassesTheBuiltInsOutputs) {
  if (::access(test::in_bin("flashbench-worker-cpu").c_str(), X_OK) != 0 ||
      ::access(test::in_bin("flashbench-judge").c_str(), X_OK) != 0)
    GTEST_SKIP() << "the programs are not built";
  Folder folder;
  Peer judge([](int end) { return spawn("flashbench-judge", end); });
  Peer worker([](int end) { return spawn("flashbench-worker-cpu", end); });
  const auto hello = worker.ok<reply::Hello>(request::Hello{"cpu"});
  EXPECT_FALSE(hello.implementations.empty());
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16})
    for (const Mask mask : {Mask::full, Mask::causal}) {
      Problem problem;
      problem.batch = problem.kv_heads = 1;
      problem.heads = 2;
      problem.seq_q = 333;
      problem.seq_k = 300;
      problem.head_dim = 64;
      problem.dtype = dtype;
      problem.mask = mask;
      problem.scale = 0.125;
      const request::Prepare prepare{problem, Pass::fwd, {{1, ""}, {2, ""}}};
      EXPECT_EQ(worker.ok<reply::Prepare>(prepare).checksums,
                judge.ok<reply::Prepare>(prepare).checksums);
      for (const ImplementationFacts& facts : hello.implementations) {
        request::Output output;
        output.impl = facts.name;
        output.dir = folder.path();
        const Reply made = worker.ask(output);
        if (made.status == Status::unsupported) continue;
        ASSERT_EQ(made.status, Status::ok) << facts.name << ": " << made.reason;
        const auto& body = std::get<reply::Output>(*made.body);
        EXPECT_TRUE(body.guards_intact) << facts.name << ": " << body.guard_reason;
        EXPECT_TRUE(body.repeats_equal.value_or(false)) << facts.name;
        const request::Judge question{Pass::fwd, 0, folder.path(), facts.name};
        for (const TensorCheck& check : judge.ok<reply::Judge>(question).tensors)
          EXPECT_EQ(check.verdict, Verdict::pass) << facts.name << ": " << check.reason;
        request::Run run;
        run.impl = facts.name;
        run.count = 3;
        EXPECT_EQ(worker.ok<reply::Run>(run).hashes[0], body.hash) << facts.name;
      }
    }
  worker.ok<reply::Bye>(request::Bye{});
  EXPECT_EQ(worker.wait(), 0);
}

}  // namespace
}  // namespace flashbench
