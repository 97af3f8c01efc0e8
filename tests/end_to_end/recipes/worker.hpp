// The worker program of the device that is tested, asked directly.
#pragma once

#include <cmath>
#include <string>

#include "support/tested_device.hpp"
#include "worker/peer.hpp"
#include "worker/spawn.hpp"

namespace flashbench::test {

using flashbench::testing::Folder;
using flashbench::testing::Peer;
using flashbench::testing::spawn;

class TestedWorker : public Peer {
 public:
  TestedWorker()
      : Peer([](int end) { return spawn("flashbench-worker-" + tested_device(), end); }) {
    device = ok<reply::Hello>(request::Hello{on_gpu ? "0" : "cpu"}).device.value_or(DeviceFacts{});
  }
  DeviceFacts device;
};

class TestedJudge : public Peer {
 public:
  TestedJudge() : Peer([](int end) { return spawn("flashbench-judge", end); }) {}
};

// Whether an implementation keeps its scores in the dtype, and so is judged by a comparator that
// does. On the CPU scores are fp32.
inline bool rounds_scores(const std::string& impl) {
  return on_gpu && impl == "naive";
}

// B = 1, Sq = Sk, scale 1/sqrt(d), in the device's first dtype.
inline Problem square(std::int64_t heads, std::int64_t length, std::int64_t head_dim,
                      Mask mask = Mask::full) {
  Problem problem;
  problem.batch = 1;
  problem.heads = problem.kv_heads = heads;
  problem.seq_q = problem.seq_k = length;
  problem.head_dim = head_dim;
  problem.dtype = on_gpu ? Dtype::fp16 : Dtype::fp32;
  problem.mask = mask;
  problem.scale = 1 / std::sqrt(static_cast<double>(head_dim));
  return problem;
}

}  // namespace flashbench::test
