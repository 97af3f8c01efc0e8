#include <cuda_runtime_api.h>

#include <utility>

#include "judge/device_inputs.hpp"
#include "judge/gradients.hpp"
#include "worker/convert.hpp"
#include "worker/dtype.hpp"
#include "worker/parallel.hpp"

namespace flashbench::judge {

DeviceInputs::DeviceInputs(const Inputs& inputs, int ordinal)
    : heads_(inputs.problem().heads),
      kv_heads_(inputs.problem().kv_heads),
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
  const Problem& p = inputs.problem();
  wild_.resize(static_cast<std::size_t>(p.batch * p.kv_heads));
  const std::int64_t head = p.seq_k * p.head_dim;
  parallel_for(static_cast<std::int64_t>(wild_.size()), [&](std::int64_t i) {
    std::vector<float> values = inputs.rows(Tensor::v, i / p.kv_heads, i % p.kv_heads, 0, p.seq_k);
    auto& found = wild_[static_cast<std::size_t>(i)] = take_wild(values, p.head_dim);
    if (found.empty()) return;
    check(cudaSetDevice(ordinal));
    const auto bytes = static_cast<std::size_t>(head * bytes_of(p.dtype));
    std::vector<std::byte> tame(bytes);
    narrow(p.dtype, values.data(), tame.data(), head);
    check(cudaMemcpy(v_.data() + static_cast<std::size_t>(i) * bytes, tame.data(), bytes,
                     cudaMemcpyHostToDevice));
  });
}

std::int64_t DeviceInputs::kv_head(const Block& rows) const {
  return rows.batch * kv_heads_ + rows.head * kv_heads_ / heads_;
}

const std::vector<Wild>& DeviceInputs::wild(const Block& rows) const {
  return wild_[static_cast<std::size_t>(kv_head(rows))];
}

HeadProblem DeviceInputs::head(const Problem& problem, const Block& rows) const {
  const std::int64_t d = problem.head_dim, bytes = bytes_of(problem.dtype);
  HeadProblem made;
  made.problem = to_c(problem, FLASHBENCH_FORWARD);
  made.problem.batch = made.problem.query_heads = made.problem.kv_heads = 1;
  made.problem.seq_q = rows.rows;
  made.problem.seq_k = visible_keys(problem, rows.first + rows.rows - 1);
  const auto view = [&](const DeviceBytes& of, std::int64_t first) {
    return FlashbenchTensor{of.data() + first * d * bytes, 0, d, 0};
  };
  const std::int64_t head = rows.batch * problem.heads + rows.head;
  made.arguments.q = view(q_, head * problem.seq_q + rows.first);
  made.arguments.k = view(k_, kv_head(rows) * problem.seq_k);
  made.arguments.v = view(v_, kv_head(rows) * problem.seq_k);
  return made;
}

GroupProblem DeviceInputs::group(const Problem& problem, const Group& group) const {
  const std::int64_t d = problem.head_dim;
  GroupProblem made;
  made.problem = to_c(problem, FLASHBENCH_BACKWARD);
  made.problem.batch = made.problem.kv_heads = 1;
  made.problem.query_heads = heads_of_group(problem);
  const auto view = [&](const DeviceBytes& of, std::int64_t head, std::int64_t seq) {
    return FlashbenchTensor{of.data() + head * seq * d * bytes_of(problem.dtype), 0, d, seq * d};
  };
  const std::int64_t head = group.batch * problem.heads + first_head(problem, group);
  const std::int64_t kv = group.batch * problem.kv_heads + group.kv_head;
  made.arguments.q = view(q_, head, problem.seq_q);
  made.arguments.k = view(k_, kv, problem.seq_k);
  made.arguments.v = view(v_, kv, problem.seq_k);
  made.arguments.d_o = view(d_o_, head, problem.seq_q);
  return made;
}

}  // namespace flashbench::judge
