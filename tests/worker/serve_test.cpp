#include "worker/serve.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "judge/judge.hpp"
#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/npy.hpp"
#include "worker/peer.hpp"
#include "worker/requests.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;
using ::testing::HasSubstr;

FlashbenchStatus ceiling_create(const FlashbenchDevice*, void** state, double* work,
                                FlashbenchMessage*) {
  *state = nullptr;
  *work = 1e6;
  return FLASHBENCH_OK;
}
FlashbenchStatus ceiling_run(void*, void*, FlashbenchMessage*) {
  volatile double x = 0;
  for (int i = 0; i < 10000; ++i) x = x + i;
  return FLASHBENCH_OK;
}
const kernels::Ceiling fake_ceilings[] = {{"exp2", ceiling_create, ceiling_run, [](void*) {}}};

class SmallMachine : public CpuBackend {
 public:
  std::optional<std::int64_t> free_bytes() override { return 1 << 20; }
};

template <class Backend = CpuBackend>
int serve_fakes(int descriptor) {
  Backend backend;
  return serve(fake_plugin(), fake_ceilings, backend, descriptor);
}

struct Worker : Peer {
  Worker() : Peer(serve_fakes<CpuBackend>) { ok<reply::Hello>(request::Hello{"cpu"}); }
};

TEST(Serve, SaysWhoItIs) {
  Peer peer(serve_fakes<CpuBackend>);
  const auto hello = peer.ok<reply::Hello>(request::Hello{"cpu"});
  EXPECT_EQ(hello.implementations.size(), 15u);
  EXPECT_EQ(hello.implementations[0].passes, std::vector<std::string>{"fwd"});
  EXPECT_EQ(hello.ceilings, std::vector<std::string>{"exp2"});
  ASSERT_TRUE(hello.device);
  EXPECT_FALSE(hello.device->name.empty());
  EXPECT_GE(hello.device->l2_bytes.value_or(0), 1 << 16);
  const auto none = peer.ok<reply::Hello>(request::Hello{"3"});
  EXPECT_FALSE(none.device);
  EXPECT_THAT(none.device_reason, HasSubstr("3"));
}

TEST(Serve, DescribesWithoutPreparing) {
  Worker worker;
  const auto described = worker.ok<reply::Describe>(request::Describe{small(), "good", Pass::fwd});
  EXPECT_EQ(described.cost.workspace_bytes, 100);
  EXPECT_EQ(described.inputs_bytes, (2 * 4 * 70 * 8 + 2 * 2 * 2 * 65 * 8) * 4);
  EXPECT_EQ(described.outputs_bytes, 2 * 4 * 70 * 8 * 4 + 2 * 4 * 70 * 4);
  const Reply refused = worker.ask(request::Describe{small(), "refuses", Pass::fwd});
  EXPECT_EQ(refused.status, Status::unsupported);
  EXPECT_EQ(refused.reason, "needs a head_dim of 3");
  EXPECT_EQ(worker.ask(request::Describe{small(), "good", Pass::bwd}).status, Status::unsupported);
  EXPECT_EQ(worker.ask(request::Describe{small(), "absent", Pass::fwd}).status,
            Status::unsupported);
}

class EveryDtypeAndLayout : public ::testing::TestWithParam<std::tuple<Dtype, Layout>> {};

TEST_P(EveryDtypeAndLayout, OutputsPassTheJudge) {
  const auto [dtype, layout] = GetParam();
  Worker worker;
  Folder folder;
  const Problem problem = small(dtype, layout);
  const auto prepared = worker.ok<reply::Prepare>(two_sets(problem));
  judge::Judge judge(judge::cpu_reference());
  const Tell quiet = [](double, double, const std::string&) {};
  EXPECT_EQ(judge.prepare(two_sets(problem), quiet).checksums, prepared.checksums);
  EXPECT_NE(prepared.checksums[0], prepared.checksums[1]);
  for (const char* impl : {"good", "m-and-l"})
    for (const int set : {0, 1}) {
      const auto made = worker.ok<reply::Output>(output(impl, folder.path(), set));
      EXPECT_TRUE(made.guards_intact) << made.guard_reason;
      EXPECT_TRUE(made.repeats_equal.value_or(false));
      EXPECT_EQ(made.counts.value_or(Counts{}).exponentials, 42);
      EXPECT_EQ(made.launches.size(), 1u);
      const auto judged = judge.judge({Pass::fwd, set, folder.path(), impl}, quiet);
      ASSERT_EQ(judged.tensors.size(), 2u);
      for (const TensorCheck& check : judged.tensors) {
        EXPECT_EQ(check.verdict, Verdict::pass) << check.reason;
        EXPECT_EQ(check.rows_checked, 2 * 4 * 70);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, EveryDtypeAndLayout,
                         ::testing::Combine(::testing::Values(Dtype::fp32, Dtype::fp16,
                                                              Dtype::bf16),
                                            ::testing::Values(Layout::bshd, Layout::bhsd)));

TEST(Serve, LeavesPoisonWhereNothingIsWritten) {
  Worker worker;
  Folder folder;
  worker.ok<reply::Prepare>(two_sets(small()));
  worker.ok<reply::Output>(output("good", folder.path()));
  worker.ok<reply::Output>(output("nothing", folder.path()));
  const NpyArray o = read_npy(folder / "o.npy");
  std::vector<float> values(static_cast<std::size_t>(o.elements()));
  o.read(0, o.elements(), values.data());
  for (const float value : values) ASSERT_TRUE(std::isnan(value));
}

TEST(Serve, NoticesWritesOutsideTheOutputs) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  const auto made = worker.ok<reply::Output>(output("beyond-o", ""));
  EXPECT_FALSE(made.guards_intact);
  EXPECT_THAT(made.guard_reason, HasSubstr("past the end of o"));
  const auto timed = worker.ok<reply::Run>(run("beyond-o", 2));
  EXPECT_FALSE(timed.guards_intact);
  worker.ok<reply::Prepare>(two_sets(small()));
  EXPECT_THAT(worker.ok<reply::Output>(output("input", "")).guard_reason, HasSubstr("input k"));
}

TEST(Serve, AWriteOutsideTheTensorsIsNotBlamedOnTheNext) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  const auto before = worker.ok<reply::Output>(output("good", ""));
  for (const char* culprit : {"beyond-o", "input"}) {
    EXPECT_FALSE(worker.ok<reply::Output>(output(culprit, "")).guards_intact);
    const auto after = worker.ok<reply::Output>(output("good", ""));
    EXPECT_TRUE(after.guards_intact) << after.guard_reason;
    EXPECT_EQ(after.hash, before.hash);
  }
  EXPECT_FALSE(worker.ok<reply::Run>(run("beyond-o", 2)).guards_intact);
  EXPECT_TRUE(worker.ok<reply::Run>(run("good", 2)).guards_intact);
}

TEST(Serve, SeesRepeatsThatDiffer) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  EXPECT_FALSE(worker.ok<reply::Output>(output("wavering", "")).repeats_equal.value_or(true));
}

TEST(Serve, AnswersFailuresWithASentence) {
  Worker worker;
  EXPECT_EQ(worker.ask(output("good", "")).status, Status::failed);  // nothing is prepared
  worker.ok<reply::Prepare>(two_sets(small()));
  for (const auto& [impl, reason] :
       {std::pair{"fails", "the launch failed"}, {"throws", "thrown by an implementation"}}) {
    for (const Reply& reply : {worker.ask(output(impl, "")), worker.ask(run(impl, 3))}) {
      EXPECT_EQ(reply.status, Status::failed);
      EXPECT_EQ(reply.reason, reason);
    }
  }
  EXPECT_EQ(worker.ask(output("good", "", 7)).status, Status::failed);
  Problem odd = small();
  odd.kv_heads = 3;
  EXPECT_EQ(worker.ask(two_sets(odd)).reason, "kv_heads 3 does not divide heads 4");
  EXPECT_EQ(worker.ask_line("this is no request", 0).status, Status::failed);
  worker.ok<reply::Prepare>(two_sets(small()));
  worker.ok<reply::Output>(output("good", ""));
}

TEST(Serve, RefusesMoreMemoryThanThereIs) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  const Reply reply = worker.ask(output("huge", ""));
  EXPECT_EQ(reply.status, Status::oom);
  EXPECT_GE(reply.needed_bytes.value_or(0), std::int64_t{1} << 43);
  worker.ok<reply::Output>(output("good", ""));

  Peer tight(serve_fakes<SmallMachine>);
  tight.ok<reply::Hello>(request::Hello{"cpu"});
  Problem large = small();
  large.seq_q = large.seq_k = 4096;
  const Reply refused = tight.ask(two_sets(large));
  EXPECT_EQ(refused.status, Status::oom);
  EXPECT_GE(refused.needed_bytes.value_or(0), 2 * 2 * 4096 * 8 * 4 * 8);
}

TEST(Serve, GivesEverythingBackOnDrop) {
  Worker worker;
  worker.ok<reply::Prepare>(two_sets(small()));
  worker.ok<reply::Output>(output("good", ""));
  worker.ok<reply::Output>(output("m-and-l", ""));
  EXPECT_EQ(fakes_alive, 2);
  worker.ok<reply::Drop>(request::Drop{});
  EXPECT_EQ(fakes_alive, 0);
  EXPECT_EQ(worker.ask(run("good", 1)).status, Status::failed);
}

TEST(Serve, MeasuresCeilingsAndRefusesCounters) {
  Worker worker;
  const auto measured = worker.ok<reply::Ceiling>(request::Ceiling{"exp2", 5});
  ASSERT_FALSE(measured.rates.empty());
  EXPECT_GT(measured.rates.front(), 0);
  EXPECT_EQ(worker.ask(request::Ceiling{"wgmma", 5}).status, Status::unsupported);
  EXPECT_EQ(worker.ask(request::Count{"good", Pass::fwd, {}}).status, Status::unsupported);
}

TEST(Serve, EndsOnBye) {
  Peer peer(serve_fakes<CpuBackend>);
  peer.ok<reply::Bye>(request::Bye{});
  EXPECT_EQ(peer.wait(), 0);
}

TEST(Serve, RunsOnLoadedInputsAndNamesTheFileThatIsWrong) {
  Worker worker;
  Folder folder;
  Problem problem = small();
  problem.batch = problem.heads = problem.kv_heads = 1;
  problem.seq_q = 5;
  problem.seq_k = 2;
  problem.init = Init::loaded;
  const std::vector<float> zeros(5 * 8, 0);
  std::vector<float> v(16, 1);
  std::fill(v.begin() + 8, v.end(), 3.0f);
  write_npy(folder / "q.npy", {1, 5, 1, 8}, NpyType::f4, zeros.data());
  write_npy(folder / "k.npy", {1, 2, 1, 8}, NpyType::f4, zeros.data());
  write_npy(folder / "v.npy", {1, 3, 1, 8}, NpyType::f4, zeros.data());
  const request::Prepare loaded{problem, Pass::fwd, {{1, folder.path()}}};
  const Reply wrong = worker.ask(loaded);
  EXPECT_EQ(wrong.status, Status::failed);
  EXPECT_THAT(wrong.reason, HasSubstr("v.npy"));
  write_npy(folder / "v.npy", {1, 2, 1, 8}, NpyType::f4, v.data());
  worker.ok<reply::Prepare>(loaded);
  request::Output request = output("good", folder / "out");
  request.inputs = true;
  worker.ok<reply::Output>(request);
  const NpyArray o = read_npy(folder / "out/o.npy"), lse = read_npy(folder / "out/lse.npy");
  std::vector<float> got(40), sums(5);
  o.read(0, 40, got.data());
  lse.read(0, 5, sums.data());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_FLOAT_EQ(got[i * 8], i < 3 ? 0 : static_cast<float>(i) - 2);
    if (i < 3) {
      EXPECT_EQ(sums[i], -std::numeric_limits<float>::infinity());
    }
  }
  EXPECT_FLOAT_EQ(sums[4], std::log(2.0f));
  std::ifstream file(folder / "out/case.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, HasSubstr("\"mask\": \"causal\""));
}

}  // namespace
}  // namespace flashbench
