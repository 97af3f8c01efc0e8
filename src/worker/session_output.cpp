// The output operation: one run on poisoned outputs, guarded, written to files, and repeated.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "record/write_error.hpp"
#include "worker/dtype.hpp"
#include "worker/npy.hpp"
#include "worker/parallel.hpp"
#include "worker/session.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;
constexpr int repeats = 3;

std::string file(const std::string& dir, std::string_view tensor) {
  return (fs::path(dir) / tensor).string() + ".npy";
}

// bf16 has no type in .npy: it is written as fp32, which holds it exactly.
NpyType file_type(Dtype dtype) {
  return dtype == Dtype::fp16 ? NpyType::f2 : NpyType::f4;
}

std::vector<std::int64_t> statistics_shape(const Problem& problem) {
  return {problem.batch, problem.heads, problem.seq_q};
}

// What all .npy files of an output take, those of statistics included.
std::int64_t bytes_of_files(const request::Output& request, const Problem& problem) {
  std::vector<Tensor> tensors = outputs_of(request.pass);
  if (request.inputs)
    for (const Tensor tensor : inputs_of(request.pass)) tensors.push_back(tensor);
  std::int64_t bytes = npy_bytes(statistics_shape(problem), NpyType::f4);
  for (const Tensor tensor : tensors)
    bytes += npy_bytes(shape_of(problem, tensor).list(), file_type(problem.dtype));
  return bytes;
}

void write_tensor(const std::string& dir, const Problem& problem, Tensor tensor,
                  const TensorSet& set) {
  const Bytes elements = set.logical(tensor);
  const Shape shape = shape_of(problem, tensor);
  const std::string path = file(dir, tensor_files[static_cast<std::size_t>(tensor)]);
  if (problem.dtype != Dtype::bf16)
    return write_npy(path, shape.list(), file_type(problem.dtype), elements.data());
  Bytes wide(shape.elements() * 4);
  constexpr std::int64_t piece = 1 << 18;
  parallel_for((shape.elements() + piece - 1) / piece, [&](std::int64_t i) {
    widen(Dtype::bf16, elements.data() + i * piece * 2,
          reinterpret_cast<float*>(wide.data()) + i * piece,
          std::min(piece, shape.elements() - i * piece));
  });
  write_npy(path, shape.list(), NpyType::f4, wide.data());
}

void write_case(const std::string& dir, const std::string& text) {
  const std::string path = (fs::path(dir) / "case.json").string();
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) throw WriteError(path, static_cast<std::int64_t>(text.size()), errno);
}

void add(Traffic& sum, const Traffic& part) {
  for (const auto& [operand, bytes] : part.read) sum.read[operand] += bytes;
  for (const auto& [operand, bytes] : part.written) sum.written[operand] += bytes;
}

void add(std::optional<Counts>& sum, const std::optional<Counts>& part) {
  if (!sum || !part) return sum.reset();
  add(sum->traffic, part->traffic);
  sum->exponentials += part->exponentials;
  sum->divisions += part->divisions;
  sum->corrections += part->corrections;
  sum->merges += part->merges;
  sum->barriers += part->barriers;
  sum->flops += part->flops;
}

// An implementation counts its last pass alone; "fwd+bwd" is two.
std::optional<Counts> run_counted(LiveInstance& live, Pass pass, TensorSet& tensors,
                                  std::uint32_t saves) {
  if (pass == Pass::bwd) {
    live.backward(tensors, saves);
    return live.counts();
  }
  live.forward(tensors);
  std::optional<Counts> counts = live.counts();
  if (pass == Pass::fwd) return counts;
  live.backward(tensors, saves);
  add(counts, live.counts());
  return counts;
}

}  // namespace

void Session::write_outputs(const request::Output& request, const TensorSet& set,
                            std::uint32_t saves) {
  std::error_code error;
  fs::create_directories(request.dir, error);
  if (error)
    throw WriteError(fmt::format("cannot make the folder {}: {}", request.dir, error.message()));
  if (request.inputs) {
    for (const Tensor tensor : inputs_of(request.pass))
      write_tensor(request.dir, problem_, tensor, set);
    const Cost cost = describe({problem_, request.impl, request.pass}).cost;
    write_case(request.dir, case_text(request, problem_, keeps_rounded_scores(problem_, cost)));
  }
  for (const Tensor tensor : outputs_of(request.pass))
    write_tensor(request.dir, problem_, tensor, set);
  if (const std::vector<float> lse = set.lse(saves); saves != 0)
    write_npy(file(request.dir, "lse"), statistics_shape(problem_), NpyType::f4, lse.data());
}

void Session::save(const request::Output& request, const TensorSet& set, std::uint32_t saves) {
  try {
    write_outputs(request, set, saves);
  } catch (const WriteError& failure) {
    throw WriteError(fmt::format("{}; the files of {} ({}) take {} bytes", failure.what(),
                                 request.impl, name(request.pass),
                                 bytes_of_files(request, problem_)));
  }
}

reply::Output Session::output(const request::Output& request, const Tell& tell) {
  TensorSet& tensors = set(request.set);
  const bool is_new = !instances_.contains({request.impl, request.pass});
  const std::optional<std::int64_t> before = backend_.free_bytes();
  instance(request.impl, request.pass);
  std::uint32_t saves = 0;
  if (request.pass == Pass::bwd)
    saves = run_forward(request.stats_from.empty() ? request.impl : request.stats_from,
                        request.pass, tensors);
  LiveInstance& live = instance(request.impl, request.pass);
  if (request.pass != Pass::bwd) saves = live.saves();
  reply::Output reply;
  reply.repeats_equal = true;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    tensors.poison(request.pass);
    const std::optional<Counts> counts = run_counted(live, request.pass, tensors, saves);
    live.collect(request.pass, tensors);
    backend_.synchronize();
    const std::string hash = tensors.hash(request.pass, saves);
    if (repeat > 0) {
      reply.repeats_equal = *reply.repeats_equal && hash == reply.hash;
    } else {
      reply.hash = hash;
      reply.counts = counts;
      const std::optional<std::int64_t> after = backend_.free_bytes();
      if (is_new && backend_.device().backend == FLASHBENCH_CUDA && before && after)
        reply.device_bytes = std::max<std::int64_t>(*before - *after, 0);  // others may have gone
      if (!request.dir.empty()) save(request, tensors, saves);
    }
    tell(repeat + 1, repeats, fmt::format("running {}", request.impl));
  }
  reply.guard_reason = tensors.broken(true);
  if (reply.guard_reason.empty()) reply.guard_reason = live.broken();
  reply.guards_intact = reply.guard_reason.empty();
  reply.launches = live.launches();
  if (!reply.guards_intact) undo_damage(tell);
  return reply;
}

}  // namespace flashbench
