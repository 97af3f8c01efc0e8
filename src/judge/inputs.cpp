#include "judge/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "worker/dtype.hpp"
#include "worker/parallel.hpp"

namespace flashbench::judge {

namespace {

// The largest finite |x|. Numbers without their sign compare like the integers of their bits.
template <class Word>
double largest_finite(Dtype dtype, const std::byte* elements, std::int64_t count, Word infinity) {
  constexpr std::int64_t piece = 1 << 17;
  constexpr Word magnitude = static_cast<Word>(-1) >> 1;
  std::vector<Word> most((static_cast<std::size_t>(count) + piece - 1) / piece);
  parallel_for(static_cast<std::int64_t>(most.size()), [&](std::int64_t i) {
    const auto* words = reinterpret_cast<const Word*>(elements) + i * piece;
    Word largest = 0;
    const std::int64_t end = std::min(piece, count - i * piece);
    for (std::int64_t at = 0; at < end; ++at) {
      const Word bits = words[at] & magnitude;
      largest = std::max(largest, bits < infinity ? bits : Word{0});
    }
    most[static_cast<std::size_t>(i)] = largest;
  });
  const Word largest = most.empty() ? Word{0} : *std::ranges::max_element(most);
  float value = 0;
  widen(dtype, &largest, &value, 1);
  return value;
}

double largest_of(Dtype dtype, const std::byte* elements, std::int64_t count) {
  if (dtype == Dtype::fp32)
    return largest_finite<std::uint32_t>(dtype, elements, count, 0x7f800000u);
  return largest_finite<std::uint16_t>(dtype, elements, count,
                                       dtype == Dtype::fp16 ? 0x7c00u : 0x7f80u);
}

}  // namespace

Inputs::Inputs(const Problem& problem, const InputSet& set, Pass pass, const Tell& tell)
    : problem_(problem) {
  problem_.layout = Layout::bhsd;
  std::vector<std::uint64_t> fingerprints;
  for (const Tensor tensor : inputs_of(pass)) {
    const auto index = static_cast<std::size_t>(tensor);
    tensors_[index] = Bytes(bytes_of(problem_, tensor));
    const auto look = [&](std::int64_t first, std::int64_t rows, const std::byte* data) {
      largest_[index] =
          std::max(largest_[index], largest_of(problem.dtype, data, rows * problem.head_dim));
      tell(static_cast<double>(first + rows), static_cast<double>(shape_of(problem, tensor).rows()),
           "making the judge's inputs");
    };
    fingerprints.push_back(make_input_at(tensors_[index].data(), problem_, set, tensor, look));
  }
  checksum_ = flashbench::checksum(fingerprints);
}

std::int64_t Inputs::footprint(const Problem& problem, Pass pass) {
  std::int64_t bytes = 0;
  for (const Tensor tensor : inputs_of(pass)) bytes += bytes_of(problem, tensor);
  return bytes;
}

std::vector<double> Inputs::row_lengths(Tensor tensor, std::int64_t batch, std::int64_t head,
                                        std::int64_t first, std::int64_t count) const {
  constexpr std::int64_t at_once = 1024;
  const auto d = static_cast<std::size_t>(problem_.head_dim);
  std::vector<double> lengths;
  lengths.reserve(static_cast<std::size_t>(count));
  for (std::int64_t row = 0; row < count; row += at_once) {
    const auto values = rows(tensor, batch, head, first + row, std::min(at_once, count - row));
    for (std::size_t at = 0; at < values.size(); at += d) {
      double squares = 0;
      for (std::size_t x = at; x < at + d; ++x)
        squares += static_cast<double>(values[x]) * values[x];
      lengths.push_back(std::isfinite(squares) ? std::sqrt(squares) : 0);
    }
  }
  return lengths;
}

double Inputs::longest_row(Tensor tensor, std::int64_t batch, std::int64_t head) const {
  const auto lengths = row_lengths(tensor, batch, head, 0, shape_of(problem_, tensor).seq);
  return lengths.empty() ? 0 : *std::ranges::max_element(lengths);
}

double Inputs::largest_score(double enough) const {
  const double scale = std::fabs(problem_.scale);
  const double by_elements =
      scale * static_cast<double>(problem_.head_dim) * largest(Tensor::q) * largest(Tensor::k);
  if (by_elements <= enough) return by_elements;
  const std::int64_t heads = problem_.batch * problem_.heads;
  std::vector<double> most(static_cast<std::size_t>(heads));
  parallel_for(heads, [&](std::int64_t i) {
    const std::int64_t batch = i / problem_.heads, head = i % problem_.heads;
    most[static_cast<std::size_t>(i)] =
        longest_row(Tensor::q, batch, head) * longest_row(Tensor::k, batch, kv_head(head));
  });
  return scale * *std::ranges::max_element(most);
}

std::vector<float> Inputs::rows(Tensor tensor, std::int64_t batch, std::int64_t head,
                                std::int64_t first, std::int64_t count) const {
  const Shape shape = shape_of(problem_, tensor);
  const std::int64_t start = ((batch * shape.heads + head) * shape.seq + first) * shape.dim;
  std::vector<float> values(static_cast<std::size_t>(count * shape.dim));
  widen(problem_.dtype,
        tensors_[static_cast<std::size_t>(tensor)].data() + start * bytes_of(problem_.dtype),
        values.data(), count * shape.dim);
  return values;
}

}  // namespace flashbench::judge
