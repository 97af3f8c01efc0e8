// Implementations that do less than they should, run right after a correct one on the same buffers:
// what the worker leaves in the folder fails before the judge.
#include "judge/judge.hpp"
#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/peer.hpp"
#include "worker/requests.hpp"
#include "worker/serve.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;

FlashbenchStatus one_nan(void* state, const FlashbenchForward* args, void* stream,
                         FlashbenchMessage* message) {
  const auto status = fake_forward<Fault::none>(state, args, stream, message);
  store(dtype_of(static_cast<Fake*>(state)->problem), args->o, 100, std::nanf(""));
  return status;
}

// All but the last row of O.
FlashbenchStatus no_last_row(void* state, const FlashbenchForward* args, void*,
                             FlashbenchMessage*) {
  const FlashbenchProblem& p = static_cast<Fake*>(state)->problem;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t h = 0; h < p.query_heads; ++h)
      for (std::int64_t i = 0; i < p.seq_q; ++i)
        if (b + 1 < p.batch || h + 1 < p.query_heads || i + 1 < p.seq_q)
          attend_row(p, *args, b, h, i);
  return FLASHBENCH_OK;
}

const FlashbenchPlugin& plugin() {
  static const std::vector<FlashbenchImplementation> all = [] {
    std::vector<FlashbenchImplementation> made{
        fake<Fault::none>("good"), fake<Fault::nothing>("nothing"), fake<Fault::none>("one-nan"),
        fake<Fault::none>("no-last-row")};
    made[2].forward = one_nan;
    made[3].forward = no_last_row;
    return made;
  }();
  static const FlashbenchPlugin plugin{FLASHBENCH_ABI, FLASHBENCH_CPU, 4, all.data()};
  return plugin;
}

TEST(Faults, FailAfterACorrectRunOnTheSameBuffers) {
  Peer worker([](int end) {
    CpuBackend backend;
    return serve(plugin(), {}, backend, end);
  });
  judge::Judge judge(judge::cpu_reference());
  const Tell quiet = [](double, double, const std::string&) {};
  worker.ok<reply::Hello>(request::Hello{"cpu"});
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    const request::Prepare prepare = two_sets(small(dtype));
    worker.ok<reply::Prepare>(prepare);
    judge.prepare(prepare, quiet);
    const auto verdict_of_o = [&](const char* impl) {
      const Folder folder;
      worker.ok<reply::Output>(output(impl, folder.path()));
      return judge.judge({Pass::fwd, 0, folder.path(), impl}, quiet).tensors.at(0).verdict;
    };
    for (const char* faulty : {"nothing", "one-nan", "no-last-row"}) {
      EXPECT_EQ(verdict_of_o("good"), Verdict::pass);
      EXPECT_EQ(verdict_of_o(faulty), Verdict::fail) << faulty;
    }
  }
}

}  // namespace
}  // namespace flashbench
