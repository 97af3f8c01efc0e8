#include "judge/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "worker/dtype.hpp"
#include "worker/parallel.hpp"

namespace flashbench::judge {

namespace {

// The largest finite |x| of `rows` rows, each of d elements.
double largest_of(Dtype dtype, const std::byte* elements, std::int64_t rows, std::int64_t d) {
  constexpr std::int64_t piece = 1024;
  std::vector<float> most(static_cast<std::size_t>((rows + piece - 1) / piece));
  parallel_for(static_cast<std::int64_t>(most.size()), [&](std::int64_t i) {
    const std::int64_t count = std::min(piece, rows - i * piece) * d;
    std::vector<float> wide(static_cast<std::size_t>(count));
    widen(dtype, elements + i * piece * d * bytes_of(dtype), wide.data(), count);
    for (const float x : wide)
      if (std::isfinite(x))
        most[static_cast<std::size_t>(i)] =
            std::max(most[static_cast<std::size_t>(i)], std::fabs(x));
  });
  return most.empty() ? 0 : *std::ranges::max_element(most);
}

}  // namespace

Inputs::Inputs(const Problem& problem, const InputSet& set, Pass pass, const Tell& tell)
    : problem_(problem) {
  problem_.layout = Layout::bhsd;
  std::vector<std::uint64_t> fingerprints;
  const std::int64_t row_bytes = problem.head_dim * bytes_of(problem.dtype);
  for (const Tensor tensor : inputs_of(pass)) {
    const auto index = static_cast<std::size_t>(tensor);
    tensors_[index].resize(static_cast<std::size_t>(bytes_of(problem_, tensor)));
    const auto keep = [&](std::int64_t first, std::int64_t rows, const std::byte* data) {
      std::memcpy(tensors_[index].data() + first * row_bytes, data,
                  static_cast<std::size_t>(rows * row_bytes));
      largest_[index] =
          std::max(largest_[index], largest_of(problem.dtype, data, rows, problem.head_dim));
      tell(static_cast<double>(first + rows), static_cast<double>(shape_of(problem, tensor).rows()),
           "making the judge's inputs");
    };
    fingerprints.push_back(make_input(problem_, set, tensor, keep));
  }
  checksum_ = flashbench::checksum(fingerprints);
}

std::int64_t Inputs::footprint(const Problem& problem, Pass pass) {
  std::int64_t bytes = 0;
  for (const Tensor tensor : inputs_of(pass)) bytes += bytes_of(problem, tensor);
  return bytes;
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
