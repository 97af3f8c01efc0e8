#include "judge/judge.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "judge/comparator.hpp"
#include "judge/finished.hpp"
#include "judge/units.hpp"
#include "worker/machine.hpp"
#include "worker/parallel.hpp"

namespace flashbench::judge {

namespace {

// Blocks that share one reading of the keys: up to 8, but so few that a run of them, which is a
// sign of life only when it is finished, takes seconds at most.
std::size_t longest_run(const Problem& problem, const std::vector<Block>& blocks) {
  constexpr double most = 2e10;  // FLOPs
  const double block = 4.0 * block_rows * static_cast<double>(problem.seq_k * problem.head_dim);
  return blocks.empty() ? 1 : static_cast<std::size_t>(std::clamp(most / block, 1.0, 8.0));
}

std::int64_t reference_bytes(const Problem& problem) {
  // O, dQ, dK and dV with what stands beside them
  return problem.batch * (problem.heads * problem.seq_q * (problem.head_dim * 20 + 16) +
                          problem.kv_heads * problem.seq_k * problem.head_dim * 24);
}

// Scores may be as large as half of what fp32 holds, which leaves room for those to base 2.
const double most_score = largest_number(Dtype::fp32) / 2;

// Where scores may overflow fp32 there is no softmax to judge.
void require_scores_in_fp32(double scale, double largest) {
  if (largest <= most_score) return;
  const double fits = most_score / largest * std::fabs(scale);
  const double unit =
      std::pow(10, std::floor(std::log10(fits)) - 2);  // three digits, not rounded up
  throw Refusal(
      Status::unsupported,
      fmt::format("at a scale of {} scores may reach {:.3g}, for which softmax in fp32 has "
                  "no room; the largest scale that surely fits these inputs is {:.3g}",
                  scale, largest, std::floor(fits / unit) * unit));
}

}  // namespace

NpyArray read_tensor(const std::string& dir, const char* tensor,
                     const std::vector<std::int64_t>& shape) {
  const std::string path = (std::filesystem::path(dir) / tensor).string() + ".npy";
  NpyArray array = read_npy(path);
  if (array.shape != shape)
    throw Refusal(Status::failed,
                  fmt::format("{}: its shape is ({}) where the problem has ({})", path,
                              fmt::join(array.shape, ", "), fmt::join(shape, ", ")));
  return array;
}

Judge::Judge(std::unique_ptr<Reference> reference, double flops_limit)
    : reference_(std::move(reference)), flops_limit_(flops_limit) {
  openblas_set_num_threads(1);  // the judge's own threads share the blocks
}

reply::Any Judge::answer(const request::Any& request, const Tell& tell) {
  if (std::holds_alternative<request::Hello>(request)) {
    reply::Hello hello;
    hello.tool = "flashbench-judge";
    hello.source = "built-in";
    return hello;
  }
  if (const auto* body = std::get_if<request::Prepare>(&request)) return prepare(*body, tell);
  if (const auto* body = std::get_if<request::Judge>(&request)) return judge(*body, tell);
  if (std::holds_alternative<request::Drop>(request)) return drop();
  if (std::holds_alternative<request::Bye>(request)) return reply::Bye{};
  throw Refusal(Status::unsupported, "the judge runs nothing: it prepares and judges");
}

reply::Drop Judge::drop() {
  sets_.clear();
  reference_->drop();
  return {available_memory()};
}

Judge::Set Judge::make_set(const InputSet& input, Pass pass, const Tell& tell) {
  Set set;
  set.inputs = std::make_unique<Inputs>(problem_, input, pass, tell);
  set.blocks = blocks_to_compare(problem_, input.seed, flops_limit_);
  set.runs = runs_of(set.blocks, longest_run(problem_, set.blocks));
  set.known.resize(set.runs.size());
  if (pass != Pass::fwd) set.groups = groups_to_compare(problem_, input.seed, flops_limit_);
  return set;
}

reply::Prepare Judge::prepare(const request::Prepare& request, const Tell& tell) {
  drop();
  require_valid(request.problem);
  problem_ = request.problem;
  const auto count = static_cast<std::int64_t>(request.sets.size());
  std::int64_t needed = count * Inputs::footprint(problem_, request.pass) +
                        2 * bytes_of(problem_, Tensor::o) + reference_->footprint(problem_);
  if (request.pass != Pass::fwd)
    needed += 2 * bytes_of(problem_, Tensor::q) + 4 * bytes_of(problem_, Tensor::k) +
              gradients_footprint(problem_);
  const std::optional<std::int64_t> free = available_memory();
  if (free && needed > *free)
    throw Refusal(
        Status::oom,
        fmt::format("the reference needs {} bytes of memory and {} are free", needed, *free),
        needed);
  keep_ = free && needed + count * reference_bytes(problem_) < *free / 4;
  reply::Prepare reply;
  double largest_score = 0;
  for (const InputSet& input : request.sets) {
    sets_.push_back(make_set(input, request.pass, tell));
    const Inputs& inputs = *sets_.back().inputs;
    reply.checksums.push_back(inputs.checksum());
    largest_score = std::max(largest_score, inputs.largest_score(most_score));
  }
  require_scores_in_fp32(problem_.scale, largest_score);
  reply.free_bytes = available_memory();
  return reply;
}

Judge::Outputs Judge::read(const request::Judge& request) const {
  Outputs outputs;
  outputs.o = read_tensor(request.dir, "o", shape_of(problem_, Tensor::o).list());
  const auto lse = std::filesystem::path(request.dir) / "lse.npy";
  if (std::filesystem::exists(lse))  // not every library gives one
    outputs.lse = read_tensor(request.dir, "lse", {problem_.batch, problem_.heads, problem_.seq_q});
  outputs.rounded_scores = rounds_scores(request);
  return outputs;
}

Judge::Found Judge::compare_run(const Set& set, const Outputs& outputs, std::size_t run,
                                const std::vector<BlockReference>& references) const {
  const std::int64_t d = problem_.head_dim;
  Found found;
  for (std::size_t i = 0; i < set.runs[run].count; ++i) {
    const Block& block = set.blocks[set.runs[run].first + i];
    std::vector<float> o(static_cast<std::size_t>(block.rows * d));
    for (std::int64_t row = 0; row < block.rows; ++row)
      outputs.o.read(
          ((block.batch * problem_.seq_q + block.first + row) * problem_.heads + block.head) * d, d,
          o.data() + row * d);
    const std::int64_t kv_head = block.batch * problem_.kv_heads + set.inputs->kv_head(block.head);
    const auto errors = set.score_errors[static_cast<std::size_t>(kv_head)]->of(block);
    add(found.o, compare_o(block, references[i], o.data(), d, set.inputs->largest(Tensor::v),
                           errors, outputs.rounded_scores));
    if (!outputs.lse) continue;
    std::vector<float> lse(static_cast<std::size_t>(block.rows));
    outputs.lse->read((block.batch * problem_.heads + block.head) * problem_.seq_q + block.first,
                      block.rows, lse.data());
    add(found.lse, compare_lse(block, references[i], lse.data(), errors, problem_.dtype,
                               outputs.rounded_scores));
  }
  return found;
}

// Every block of every implementation asks for them.
void Judge::make_score_errors(Set& set) const {
  if (!set.score_errors.empty()) return;
  set.score_errors.resize(static_cast<std::size_t>(problem_.batch * problem_.kv_heads));
  const std::int64_t group = problem_.heads / problem_.kv_heads;
  parallel_for(problem_.batch * problem_.kv_heads, [&](std::int64_t i) {
    set.score_errors[static_cast<std::size_t>(i)].emplace(*set.inputs, i / problem_.kv_heads,
                                                          i % problem_.kv_heads * group);
  });
}

std::vector<Judge::Found> Judge::compare(Set& set, const Outputs& outputs, const Tell& tell) {
  std::vector<Found> found(set.runs.size());
  Finished finished(tell, static_cast<double>(found.size()), "judging");
  const std::int64_t room = available_memory().value_or(INT64_MAX) / 2;
  const std::int64_t threads = std::max<std::int64_t>(room / reference_->footprint(problem_), 1);
  const auto body = [&](std::int64_t index) {
    const auto run = static_cast<std::size_t>(index);
    const auto blocks = std::span(set.blocks).subspan(set.runs[run].first, set.runs[run].count);
    auto here = std::exchange(set.known[run], std::nullopt);
    if (!here) here = reference_->forward(*set.inputs, blocks);
    if (outputs.rounded_scores && !here->front().rounded_scores_error)
      reference_->round_scores(*set.inputs, blocks, *here);
    found[run] = compare_run(set, outputs, run, *here);
    if (keep_) set.known[run] = std::move(here);
    finished();
  };
  parallel_for(static_cast<std::int64_t>(found.size()), body, threads);
  return found;
}

void Judge::judge_forward(Set& set, const request::Judge& request, const Tell& tell,
                          reply::Judge& reply) {
  const Outputs outputs = read(request);
  make_score_errors(set);
  Found sum;
  for (const Found& part : compare(set, outputs, tell)) {
    add(sum.o, part.o);
    add(sum.lse, part.lse);
  }
  const std::int64_t rows = problem_.batch * problem_.heads * problem_.seq_q;
  reply.tensors.push_back(to_check("o", sum.o, rows));
  if (outputs.lse) reply.tensors.push_back(to_check("lse", sum.lse, rows));
}

reply::Judge Judge::judge(const request::Judge& request, const Tell& tell) {
  if (request.set < 0 || static_cast<std::size_t>(request.set) >= sets_.size())
    throw Refusal(Status::failed, fmt::format("input set {} is not prepared", request.set));
  Set& set = sets_[static_cast<std::size_t>(request.set)];
  reply::Judge reply;
  if (request.pass != Pass::bwd) judge_forward(set, request, tell, reply);
  if (request.pass != Pass::fwd) judge_backward(set, request, tell, reply);
  return reply;
}

}  // namespace flashbench::judge
