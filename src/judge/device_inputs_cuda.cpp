#include <cuda_runtime_api.h>

#include <utility>

#include "judge/device_inputs.hpp"
#include "judge/gradients.hpp"
#include "worker/convert.hpp"
#include "worker/dtype.hpp"
#include "worker/parallel.hpp"

namespace flashbench::judge {

DeviceInputs::DeviceInputs(const Inputs& inputs, int ordinal)
    : problem_(inputs.problem()),
      q_(inputs.elements(Tensor::q).size()),
      k_(inputs.elements(Tensor::k).size()),
      v_(inputs.elements(Tensor::v).size()),
      d_o_(inputs.elements(Tensor::d_o).size()) {
  for (const auto& [to, tensor] :
       {std::pair{&q_, Tensor::q}, {&k_, Tensor::k}, {&v_, Tensor::v}, {&d_o_, Tensor::d_o}}) {
    const auto from = inputs.elements(tensor);
    check(cudaMemcpy(to->data(), from.data(), from.size(), cudaMemcpyHostToDevice));
  }
  tame_v(inputs, ordinal);
  check(cudaDeviceSynchronize());  // the lanes' streams do not wait for copies
}

void DeviceInputs::tame_v(const Inputs& inputs, int ordinal) {
  wild_.resize(static_cast<std::size_t>(problem_.batch * problem_.kv_heads));
  const std::int64_t head = problem_.seq_k * problem_.head_dim;
  parallel_for(static_cast<std::int64_t>(wild_.size()), [&](std::int64_t i) {
    std::vector<float> values =
        inputs.rows(Tensor::v, i / problem_.kv_heads, i % problem_.kv_heads, 0, problem_.seq_k);
    auto& found = wild_[static_cast<std::size_t>(i)] = take_wild(values, problem_.head_dim);
    if (found.empty()) return;
    check(cudaSetDevice(ordinal));
    const auto bytes = static_cast<std::size_t>(head * bytes_of(problem_.dtype));
    std::vector<std::byte> tame(bytes);
    narrow(problem_.dtype, values.data(), tame.data(), head);
    check(cudaMemcpy(v_.data() + static_cast<std::size_t>(i) * bytes, tame.data(), bytes,
                     cudaMemcpyHostToDevice));
  });
}

std::int64_t DeviceInputs::kv_head(const Block& rows) const {
  return rows.batch * problem_.kv_heads + rows.head * problem_.kv_heads / problem_.heads;
}

const std::vector<Wild>& DeviceInputs::wild(const Block& rows) const {
  return wild_[static_cast<std::size_t>(kv_head(rows))];
}

HeadProblem DeviceInputs::head(const Block& rows) const {
  const std::int64_t d = problem_.head_dim, bytes = bytes_of(problem_.dtype);
  HeadProblem made;
  made.problem = to_c(problem_, FLASHBENCH_FORWARD);
  made.problem.batch = made.problem.query_heads = made.problem.kv_heads = 1;
  made.problem.seq_q = rows.rows;
  made.problem.seq_k = visible_keys(problem_, rows.first + rows.rows - 1);
  const auto view = [&](const DeviceBytes& of, std::int64_t first) {
    return FlashbenchTensor{of.data() + first * d * bytes, 0, d, 0};
  };
  const std::int64_t head = rows.batch * problem_.heads + rows.head;
  made.arguments.q = view(q_, head * problem_.seq_q + rows.first);
  made.arguments.k = view(k_, kv_head(rows) * problem_.seq_k);
  made.arguments.v = view(v_, kv_head(rows) * problem_.seq_k);
  return made;
}

GroupProblem DeviceInputs::group(const Group& group) const {
  const std::int64_t d = problem_.head_dim;
  GroupProblem made;
  made.problem = to_c(problem_, FLASHBENCH_BACKWARD);
  made.problem.batch = made.problem.kv_heads = 1;
  made.problem.query_heads = heads_of_group(problem_);
  const auto view = [&](const DeviceBytes& of, std::int64_t head, std::int64_t seq) {
    return FlashbenchTensor{of.data() + head * seq * d * bytes_of(problem_.dtype), 0, d, seq * d};
  };
  const std::int64_t head = group.batch * problem_.heads + first_head(problem_, group);
  const std::int64_t kv = group.batch * problem_.kv_heads + group.kv_head;
  made.arguments.q = view(q_, head, problem_.seq_q);
  made.arguments.k = view(k_, kv, problem_.seq_k);
  made.arguments.v = view(v_, kv, problem_.seq_k);
  made.arguments.d_o = view(d_o_, head, problem_.seq_q);
  return made;
}

}  // namespace flashbench::judge
