// A worker's backward: statistics of its own or another's forward, gradients that the judge passes.
#include <gtest/gtest.h>

#include <cmath>

#include "judge/judge.hpp"
#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/npy.hpp"
#include "worker/peer.hpp"
#include "worker/serve.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;

struct Rows {
  const FlashbenchProblem& p;
  float get(const FlashbenchTensor& t, std::int64_t b, std::int64_t s, std::int64_t h,
            std::int64_t x) const {
    return load(dtype_of(p), t, b * t.batch + s * t.seq + h * t.head + x);
  }
  void add(const FlashbenchTensor& t, std::int64_t b, std::int64_t s, std::int64_t h,
           std::int64_t x, float value) const {
    const std::int64_t at = b * t.batch + s * t.seq + h * t.head + x;
    store(dtype_of(p), t, at, load(dtype_of(p), t, at) + value);
  }
};

void clear(const FlashbenchTensor& t, std::int64_t elements) {
  std::memset(t.data, 0, static_cast<std::size_t>(elements) * 4);
}

void backward_row(const Rows& rows, const FlashbenchBackward& args, std::int64_t b, std::int64_t h,
                  std::int64_t i) {
  const FlashbenchProblem& p = rows.p;
  const std::int64_t kv = h * p.kv_heads / p.query_heads;
  const std::int64_t row = (b * p.query_heads + h) * p.seq_q + i;
  const float lse = args.lse ? args.lse[row] : args.m[row] + std::log(args.l[row]);
  float d = 0;
  for (std::int64_t x = 0; x < p.head_dim; ++x)
    d += rows.get(args.d_o, b, i, h, x) * rows.get(args.o, b, i, h, x);
  for (std::int64_t j = 0; j < std::min(p.seq_k, i + 1 + p.seq_k - p.seq_q); ++j) {
    float s = 0, dp = 0;
    for (std::int64_t x = 0; x < p.head_dim; ++x) {
      s += rows.get(args.q, b, i, h, x) * rows.get(args.k, b, j, kv, x);
      dp += rows.get(args.d_o, b, i, h, x) * rows.get(args.v, b, j, kv, x);
    }
    const auto scale = static_cast<float>(p.scale);
    const float weight = std::exp(s * scale - lse), ds = weight * (dp - d) * scale;
    for (std::int64_t x = 0; x < p.head_dim; ++x) {
      rows.add(args.dq, b, i, h, x, ds * rows.get(args.k, b, j, kv, x));
      rows.add(args.dk, b, j, kv, x, ds * rows.get(args.q, b, i, h, x));
      rows.add(args.dv, b, j, kv, x, weight * rows.get(args.d_o, b, i, h, x));
    }
  }
}

FlashbenchStatus fake_backward(void* state, const FlashbenchBackward* args, void*,
                               FlashbenchMessage*) {
  const FlashbenchProblem& p = static_cast<Fake*>(state)->problem;
  clear(args->dq, p.batch * p.seq_q * p.query_heads * p.head_dim);
  for (const FlashbenchTensor& t : {args->dk, args->dv})
    clear(t, p.batch * p.seq_k * p.kv_heads * p.head_dim);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t h = 0; h < p.query_heads; ++h)
      for (std::int64_t i = 0; i < p.seq_q; ++i) backward_row({p}, *args, b, h, i);
  return FLASHBENCH_OK;
}

// A library that keeps O in memory of its own until collect.
std::vector<std::byte> own_memory;
FlashbenchStatus hoarding_forward(void* state, const FlashbenchForward* args, void*,
                                  FlashbenchMessage*) {
  const FlashbenchProblem& p = static_cast<Fake*>(state)->problem;
  own_memory.resize(static_cast<std::size_t>(p.batch * p.seq_q * p.query_heads * p.head_dim) * 4);
  FlashbenchForward mine = *args;
  mine.o.data = own_memory.data();
  attend(p, mine);
  return FLASHBENCH_OK;
}
FlashbenchStatus collect(void*, const FlashbenchForward* args, const FlashbenchBackward*, void*,
                         FlashbenchMessage*) {
  std::memcpy(args->o.data, own_memory.data(), own_memory.size());
  return FLASHBENCH_OK;
}

const FlashbenchPlugin& plugin() {
  static const std::vector<FlashbenchImplementation> all = [] {
    FlashbenchImplementation lse = fake<Fault::none>("lse"), ml = fake<Fault::m_and_l>("m-and-l");
    for (FlashbenchImplementation* each : {&lse, &ml}) {
      each->passes = FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD;
      each->backward = fake_backward;
    }
    FlashbenchImplementation hoarder = fake<Fault::none>("hoarder");
    hoarder.forward = hoarding_forward;
    hoarder.collect = collect;
    return std::vector{lse, ml, hoarder};
  }();
  static const FlashbenchPlugin plugin{FLASHBENCH_ABI, FLASHBENCH_CPU, 3, all.data()};
  return plugin;
}

struct Worker : Peer {
  explicit Worker(Pass pass)
      : Peer([](int end) {
          CpuBackend backend;
          return serve(plugin(), {}, backend, end);
        }) {
    problem.heads = 4;
    problem.kv_heads = 2;
    problem.seq_q = 40;
    problem.seq_k = 70;
    problem.head_dim = 8;
    problem.mask = Mask::causal;
    problem.scale = 0.3;
    prepare = {problem, pass, {{1, ""}, {2, ""}}};
    ok<reply::Hello>(request::Hello{"cpu"});
    checksums = ok<reply::Prepare>(prepare).checksums;
  }
  Problem problem;
  request::Prepare prepare;
  std::vector<std::string> checksums;
};

TEST(Backward, OutputsPassTheJudgeWithAnyForwardsStatistics) {
  Worker worker(Pass::fwd_bwd);
  const Tell quiet = [](double, double, const std::string&) {};
  judge::Judge judge(judge::cpu_reference());
  EXPECT_EQ(judge.prepare(worker.prepare, quiet).checksums, worker.checksums);
  Folder folder;
  for (const Pass pass : {Pass::bwd, Pass::fwd_bwd})
    for (const char* impl : {"lse", "m-and-l"})
      for (const char* stats : {"", "lse", "m-and-l"}) {
        request::Output output;
        output.impl = impl;
        output.pass = pass;
        output.set = 1;
        output.stats_from = stats;
        output.dir = folder.path();
        const auto made = worker.ok<reply::Output>(output);
        EXPECT_TRUE(made.guards_intact) << made.guard_reason;
        const auto judged = judge.judge({pass, 1, folder.path(), impl}, quiet);
        EXPECT_EQ(judged.tensors.size(), pass == Pass::bwd ? 3u : 5u);
        for (const TensorCheck& check : judged.tensors)
          EXPECT_EQ(check.verdict, Verdict::pass) << check.reason;
      }
}

TEST(Backward, HashesAfterATurnToWhatWasJudged) {
  Worker worker(Pass::fwd_bwd);
  for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
    request::Output output;
    output.impl = "m-and-l";
    output.pass = pass;
    const auto judged = worker.ok<reply::Output>(output);
    request::Run run;
    run.impl = "m-and-l";
    run.pass = pass;
    run.count = 6;
    EXPECT_EQ(worker.ok<reply::Run>(run).hashes[0], judged.hash);
  }
}

TEST(Backward, IsRefusedWhereOnlyAForwardIsPrepared) {
  Worker worker(Pass::fwd);
  request::Output output;
  output.impl = "lse";
  output.pass = Pass::bwd;
  EXPECT_EQ(worker.ask(output).status, Status::failed);
  output.impl = "hoarder";
  EXPECT_EQ(worker.ask(output).status, Status::unsupported);
}

TEST(Collect, BringsResultsFromALibrarysOwnMemory) {
  Worker worker(Pass::fwd);
  request::Output output;
  output.impl = "lse";
  const std::string wanted = worker.ok<reply::Output>(output).hash;
  output.impl = "hoarder";
  EXPECT_EQ(worker.ok<reply::Output>(output).hash, wanted);
  request::Run run;
  run.impl = "hoarder";
  run.count = 4;
  EXPECT_EQ(worker.ok<reply::Run>(run).hashes[0], wanted);
}

}  // namespace
}  // namespace flashbench
