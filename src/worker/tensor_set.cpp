#include "worker/tensor_set.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "worker/dtype.hpp"
#include "worker/hash.hpp"

namespace flashbench {

namespace {

constexpr std::int64_t nan_rows = 512;  // no tile reads more keys at once

std::int64_t nan_after(const Problem& problem, Tensor tensor) {
  if (tensor != Tensor::k && tensor != Tensor::v) return 0;
  return std::max<std::int64_t>(
      nan_rows * problem.kv_heads * problem.head_dim * bytes_of(problem.dtype), 1);
}

std::string text(Tensor tensor) {
  return std::string(tensor_files[static_cast<std::size_t>(tensor)]);
}

// ln(sum of exp) from the running maximum and sum; -inf where a row sees no key.
float lse_of(float m, float l) {
  if (l == 0) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(static_cast<double>(m) + std::log(static_cast<double>(l)));
}

}  // namespace

TensorSet::TensorSet(DeviceBackend& backend, const Problem& problem, const InputSet& set, Pass pass,
                     const Tell& tell)
    : backend_(&backend), problem_(problem), source_(set) {
  for (const Tensor tensor : inputs_of(pass))
    inputs_.push_back({tensor, Guarded(backend, text(tensor), bytes_of(problem, tensor),
                                       nan_after(problem, tensor))});
  for (const Tensor tensor : outputs_of(pass))
    outputs_.push_back({tensor, Guarded(backend, text(tensor), bytes_of(problem, tensor))});
  lse_ = Guarded(backend, "lse", statistic_bytes(problem));
  m_ = Guarded(backend, "m", statistic_bytes(problem));
  l_ = Guarded(backend, "l", statistic_bytes(problem));
  poison(pass == Pass::fwd ? Pass::fwd
                           : Pass::fwd_bwd);  // pages that are never touched count as free
  std::vector<std::uint64_t> fingerprints;
  for (Named& input : inputs_) {
    fingerprints.push_back(fill(input, tell));
    input.device_hash = backend.hash(input.buffer.data(), input.buffer.bytes());
  }
  checksum_ = flashbench::checksum(fingerprints);
}

std::uint64_t TensorSet::fill(Named& input, const Tell& tell) {
  const std::int64_t row_bytes = problem_.head_dim * bytes_of(problem_.dtype);
  const auto upload = [&](std::int64_t first, std::int64_t rows, const std::byte* data) {
    backend_->upload(static_cast<std::byte*>(input.buffer.data()) + first * row_bytes, data,
                     rows * row_bytes);
    tell(static_cast<double>(first + rows),
         static_cast<double>(shape_of(problem_, input.tensor).rows()),
         fmt::format("filling {}", text(input.tensor)));
  };
  return make_input(problem_, source_, input.tensor, upload);
}

std::int64_t TensorSet::footprint(const Problem& problem, Pass pass) {
  std::int64_t bytes = 3 * Guarded::footprint(statistic_bytes(problem));
  for (const Tensor tensor : inputs_of(pass))
    bytes += Guarded::footprint(bytes_of(problem, tensor), nan_after(problem, tensor));
  for (const Tensor tensor : outputs_of(pass))
    bytes += Guarded::footprint(bytes_of(problem, tensor));
  return bytes;
}

const Guarded& TensorSet::at(Tensor tensor) const {
  for (const auto* list : {&inputs_, &outputs_})
    for (const Named& named : *list)
      if (named.tensor == tensor) return named.buffer;
  throw Refusal(Status::failed,
                fmt::format("{} was not prepared; prepare the backward pass", text(tensor)));
}

FlashbenchTensor TensorSet::view(Tensor tensor) const {
  return view_of(problem_, tensor, at(tensor).data());
}

FlashbenchForward TensorSet::forward_arguments(std::uint32_t saves) {
  FlashbenchForward args{};
  args.q = view(Tensor::q);
  args.k = view(Tensor::k);
  args.v = view(Tensor::v);
  args.o = view(Tensor::o);
  if (saves & FLASHBENCH_SAVES_LSE) args.lse = static_cast<float*>(lse_.data());
  if (saves & FLASHBENCH_SAVES_M_AND_L) {
    args.m = static_cast<float*>(m_.data());
    args.l = static_cast<float*>(l_.data());
  }
  return args;
}

FlashbenchBackward TensorSet::backward_arguments(std::uint32_t saves) {
  const FlashbenchForward forward = forward_arguments(saves);
  FlashbenchBackward args{};
  args.q = forward.q;
  args.k = forward.k;
  args.v = forward.v;
  args.o = forward.o;
  args.d_o = view(Tensor::d_o);
  args.dq = view(Tensor::dq);
  args.dk = view(Tensor::dk);
  args.dv = view(Tensor::dv);
  args.lse = forward.lse;
  args.m = forward.m;
  args.l = forward.l;
  return args;
}

std::vector<const Guarded*> TensorSet::written(Pass pass, std::uint32_t saves) const {
  std::vector<const Guarded*> buffers;
  if (pass != Pass::bwd) {
    buffers.push_back(&at(Tensor::o));
    if (saves & FLASHBENCH_SAVES_LSE) buffers.push_back(&lse_);
    if (saves & FLASHBENCH_SAVES_M_AND_L) buffers.insert(buffers.end(), {&m_, &l_});
  }
  if (pass != Pass::fwd)
    for (const Tensor tensor : {Tensor::dq, Tensor::dk, Tensor::dv}) buffers.push_back(&at(tensor));
  return buffers;
}

void TensorSet::poison(Pass pass) {
  const std::uint32_t all = FLASHBENCH_SAVES_LSE | FLASHBENCH_SAVES_M_AND_L;
  for (const Guarded* buffer : written(pass, all)) const_cast<Guarded*>(buffer)->poison();
}

std::string TensorSet::hash(Pass pass, std::uint32_t saves) const {
  std::vector<std::uint64_t> hashes;
  for (const Guarded* buffer : written(pass, saves))
    hashes.push_back(backend_->hash(buffer->data(), buffer->bytes()));
  return hex(hash_bytes(hashes.data(), static_cast<std::int64_t>(hashes.size() * 8)));
}

std::int64_t TensorSet::bytes_written(Pass pass, std::uint32_t saves) const {
  std::int64_t bytes = 0;
  for (const Guarded* buffer : written(pass, saves)) bytes += buffer->bytes();
  return bytes;
}

std::string TensorSet::broken(bool inputs) const {
  for (const auto* list : {&inputs_, &outputs_})
    for (const Named& named : *list)
      if (std::string reason = named.buffer.broken(); !reason.empty()) return reason;
  for (const Guarded* buffer : {&lse_, &m_, &l_})
    if (std::string reason = buffer->broken(); !reason.empty()) return reason;
  if (!inputs) return {};
  for (const Named& input : inputs_)
    if (backend_->hash(input.buffer.data(), input.buffer.bytes()) != input.device_hash)
      return fmt::format("the input {} was written to", text(input.tensor));
  return {};
}

void TensorSet::mend(const Tell& tell) {
  for (auto* list : {&inputs_, &outputs_})
    for (Named& named : *list) named.buffer.mend();
  for (Guarded* buffer : {&lse_, &m_, &l_}) buffer->mend();
  for (Named& input : inputs_)
    if (backend_->hash(input.buffer.data(), input.buffer.bytes()) != input.device_hash)
      fill(input, tell);
}

Bytes TensorSet::logical(Tensor tensor) const {
  const Guarded& buffer = at(tensor);
  Bytes rows(buffer.bytes());
  backend_->download(rows.data(), buffer.data(), buffer.bytes());
  if (problem_.layout == Layout::bshd) return rows;
  Bytes ordered(buffer.bytes());
  to_logical(shape_of(problem_, tensor), problem_.layout, rows.data(), ordered.data(),
             problem_.head_dim * bytes_of(problem_.dtype));
  return ordered;
}

std::vector<float> TensorSet::statistic(const Guarded& buffer) const {
  std::vector<float> values(static_cast<std::size_t>(buffer.bytes() / 4));
  backend_->download(values.data(), buffer.data(), buffer.bytes());
  return values;
}

std::vector<float> TensorSet::lse(std::uint32_t saves) const {
  if (saves & FLASHBENCH_SAVES_LSE) return statistic(lse_);
  if (!(saves & FLASHBENCH_SAVES_M_AND_L)) return {};
  std::vector<float> values = statistic(m_);
  const std::vector<float> sums = statistic(l_);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = lse_of(values[i], sums[i]);
  return values;
}

}  // namespace flashbench
