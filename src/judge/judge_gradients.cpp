#include <algorithm>

#include "judge/finished.hpp"
#include "judge/judge.hpp"
#include "worker/machine.hpp"
#include "worker/parallel.hpp"

namespace flashbench::judge {

namespace {

// Compares one head of a gradient, (seq, d), block by block.
Outcome compare_head(const char* tensor, const NpyArray& got, const Gradient& gradient,
                     const Shape& shape, std::int64_t batch, std::int64_t head, Dtype dtype,
                     double largest) {
  Outcome sum;
  for (std::int64_t first = 0; first < shape.seq; first += block_rows) {
    const Block block{batch, head, first, std::min(block_rows, shape.seq - first)};
    std::vector<float> rows(static_cast<std::size_t>(block.rows * shape.dim));
    for (std::int64_t i = 0; i < block.rows; ++i)
      got.read(((batch * shape.seq + first + i) * shape.heads + head) * shape.dim, shape.dim,
               rows.data() + i * shape.dim);
    add(sum,
        compare_gradient(tensor, block, gradient.exact.data() + first * shape.dim,
                         gradient.comparator.data() + first * shape.dim, rows.data(), shape.dim,
                         dtype, least_error(gradient, block), largest, gradient.spreads));
  }
  return sum;
}

}  // namespace

Judge::GradientsFound Judge::compare_group(const Set& set, const GradientOutputs& outputs,
                                           const Group& group,
                                           const GroupGradients& gradients) const {
  double largest = 0;
  for (const Tensor tensor : inputs_of(Pass::bwd))
    largest = std::max(largest, set.inputs->largest(tensor));
  const Shape queries = shape_of(problem_, Tensor::dq), keys = shape_of(problem_, Tensor::dk);
  GradientsFound found;
  for (std::size_t i = 0; i < gradients.dq.size(); ++i)
    add(found.dq, compare_head("dq", outputs.dq, gradients.dq[i], queries, group.batch,
                               first_head(problem_, group) + static_cast<std::int64_t>(i),
                               problem_.dtype, largest));
  found.dk = compare_head("dk", outputs.dk, gradients.dk, keys, group.batch, group.kv_head,
                          problem_.dtype, largest);
  found.dv = compare_head("dv", outputs.dv, gradients.dv, keys, group.batch, group.kv_head,
                          problem_.dtype, largest);
  return found;
}

void Judge::judge_backward(Set& set, const request::Judge& request, const Tell& tell,
                           reply::Judge& reply) {
  if (set.groups.empty())
    throw Refusal(Status::failed, "no backward is prepared, so gradients cannot be judged");
  const Shape queries = shape_of(problem_, Tensor::dq), keys = shape_of(problem_, Tensor::dk);
  const GradientOutputs outputs{read_tensor(request.dir, "dq", queries.list()),
                                read_tensor(request.dir, "dk", keys.list()),
                                read_tensor(request.dir, "dv", keys.list())};
  std::vector<GradientsFound> found(set.groups.size());
  const bool rounded = rounds_scores(request);
  auto& known = set.gradients[rounded ? 1 : 0];
  known.resize(set.groups.size());
  Finished finished(tell, 0, "judging gradients");
  const std::int64_t room = available_memory().value_or(INT64_MAX) / 2;
  const auto body = [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    auto here = std::exchange(known[i], std::nullopt);
    if (!here)
      here = reference_->gradients(*set.inputs, set.groups[i], rounded, std::ref(finished));
    found[i] = compare_group(set, outputs, set.groups[i], *here);
    if (keep_) known[i] = std::move(here);
  };
  parallel_for(static_cast<std::int64_t>(found.size()), body,
               std::max<std::int64_t>(room / gradients_footprint(problem_), 1));
  GradientsFound sum;
  for (const GradientsFound& part : found) {
    add(sum.dq, part.dq);
    add(sum.dk, part.dk);
    add(sum.dv, part.dv);
  }
  reply.tensors.push_back(to_check("dq", sum.dq, queries.rows()));
  reply.tensors.push_back(to_check("dk", sum.dk, keys.rows()));
  reply.tensors.push_back(to_check("dv", sum.dv, keys.rows()));
}

}  // namespace flashbench::judge
