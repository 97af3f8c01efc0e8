#include "worker/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "worker/bytes.hpp"
#include "worker/dtype.hpp"
#include "worker/hash.hpp"
#include "worker/npy.hpp"
#include "worker/parallel.hpp"

namespace flashbench {

namespace {

// A sum of 64 fair bits and two uniform numbers, in units of 2^-32, mean removed: the sum's
// variance is 64/4 + 2/12, its density continuous, its tails good to 8 standard deviations.
constexpr std::int64_t bell(std::uint64_t hash) {
  const std::uint64_t fine = mix(hash ^ 0x5851f42d4c957f2du);
  return (static_cast<std::int64_t>(std::popcount(hash)) << 32) +
         static_cast<std::int64_t>(fine >> 32) + static_cast<std::int64_t>(fine & 0xffffffffu) -
         (std::int64_t{33} << 32);
}
constexpr double bell_unit = 0x1p-32 / 4.020779360604939;  // sqrt(16 + 1/6)

// N(0, 1) + N(0, 100) * Bernoulli(0.001)
constexpr std::int64_t bell_with_outliers(std::uint64_t hash) {
  const std::uint64_t coin = mix(hash ^ 0x2545f4914f6cdd1du);
  const bool outlier = (coin >> 32) < 4294967;  // 0.001 * 2^32
  return bell(hash) + (outlier ? 10 * bell(mix(coin)) : 0);
}

float value(Init init, std::uint64_t hash) {
  switch (init) {
    case Init::normal:
      return static_cast<float>(static_cast<double>(bell(hash)) * bell_unit);
    case Init::outlier:
      return static_cast<float>(static_cast<double>(bell_with_outliers(hash)) * bell_unit);
    case Init::uniform:
      return static_cast<float>(static_cast<std::int64_t>(hash >> 40) - (1 << 23)) * 0x1p-23f;
    case Init::constant:
      return 1;
    case Init::zeros:
      return 0;
    case Init::loaded:
      break;
  }
  throw std::runtime_error("loaded inputs need a folder");
}

NpyArray load(const Problem& problem, const std::string& dir, Tensor tensor) {
  const std::string file =
      (std::filesystem::path(dir) / tensor_files[static_cast<std::size_t>(tensor)]).string() +
      ".npy";
  NpyArray array = read_npy(file);
  const std::vector<std::int64_t> wanted = shape_of(problem, tensor).list();
  if (array.shape != wanted)
    throw std::runtime_error(
        fmt::format("{}: its shape is ({}) where the problem has (b, s, h, d) = ({})", file,
                    fmt::join(array.shape, ", "), fmt::join(wanted, ", ")));
  return array;
}

// Makes logical rows, one at a time.
class Rows {
 public:
  Rows(const Problem& problem, const InputSet& set, Tensor tensor)
      : init_(problem.init),
        dtype_(problem.dtype),
        dim_(problem.head_dim),
        stream_(mix(set.seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u +
                    static_cast<std::uint64_t>(tensor))) {
    if (!set.dir.empty()) loaded_ = load(problem, set.dir, tensor);
  }
  void make(std::int64_t row, std::vector<float>& values, std::byte* to) const {
    values.resize(static_cast<std::size_t>(dim_));
    if (loaded_) {
      loaded_->read(row * dim_, dim_, values.data());
    } else {
      auto index = stream_ + static_cast<std::uint64_t>(row * dim_) * 0x9e3779b97f4a7c15u;
      for (float& x : values) x = value(init_, mix(index += 0x9e3779b97f4a7c15u));
    }
    narrow(dtype_, values.data(), to, dim_);
  }

 private:
  Init init_;
  Dtype dtype_;
  std::int64_t dim_;
  std::uint64_t stream_;
  std::optional<NpyArray> loaded_;
};

// Rows that are made at a time.
std::int64_t chunk_rows(const Problem& problem) {
  return std::max<std::int64_t>((32 << 20) / (problem.head_dim * bytes_of(problem.dtype)), 1);
}

// place(first): where the rows from `first` on go.
template <class Place>
std::uint64_t make_rows(const Problem& problem, const InputSet& set, Tensor tensor, Place place,
                        const RowSink& sink) {
  const Shape shape = shape_of(problem, tensor);
  const std::int64_t row_bytes = shape.dim * bytes_of(problem.dtype);
  const std::int64_t chunk = chunk_rows(problem);
  constexpr std::int64_t piece = 256;
  const Rows rows(problem, set, tensor);
  std::atomic<std::uint64_t> fingerprint{static_cast<std::uint64_t>(tensor)};
  for (std::int64_t first = 0; first < shape.rows(); first += chunk) {
    const std::int64_t count = std::min(chunk, shape.rows() - first);
    std::byte* const to = place(first);
    parallel_for((count + piece - 1) / piece, [&](std::int64_t i) {
      std::vector<float> values;
      std::uint64_t sum = 0;
      for (std::int64_t j = i * piece; j < std::min(count, (i + 1) * piece); ++j) {
        const std::int64_t row = logical_row(shape, problem.layout, first + j);
        rows.make(row, values, to + j * row_bytes);
        sum += hash_bytes(to + j * row_bytes, row_bytes, static_cast<std::uint64_t>(row) + 1);
      }
      fingerprint += sum;  // a sum, so that neither layout nor threads matter
    });
    sink(first, count, to);
  }
  return fingerprint;
}

}  // namespace

std::uint64_t make_input(const Problem& problem, const InputSet& set, Tensor tensor,
                         const RowSink& sink) {
  const std::int64_t rows = std::min(chunk_rows(problem), shape_of(problem, tensor).rows());
  Bytes chunk(rows * problem.head_dim * bytes_of(problem.dtype));
  return make_rows(
      problem, set, tensor, [&](std::int64_t) { return chunk.data(); }, sink);
}

std::uint64_t make_input_at(std::byte* to, const Problem& problem, const InputSet& set,
                            Tensor tensor, const RowSink& sink) {
  const std::int64_t row_bytes = problem.head_dim * bytes_of(problem.dtype);
  return make_rows(
      problem, set, tensor, [&](std::int64_t first) { return to + first * row_bytes; }, sink);
}

std::vector<Tensor> inputs_of(Pass pass) {
  if (pass == Pass::fwd) return {Tensor::q, Tensor::k, Tensor::v};
  return {Tensor::q, Tensor::k, Tensor::v, Tensor::d_o};
}

std::vector<Tensor> outputs_of(Pass pass) {
  if (pass == Pass::fwd) return {Tensor::o};
  return {Tensor::o, Tensor::dq, Tensor::dk, Tensor::dv};
}

std::string checksum(const std::vector<std::uint64_t>& fingerprints) {
  std::string text;
  for (const std::uint64_t fingerprint : fingerprints)
    text += (text.empty() ? "" : "-") + hex(fingerprint);
  return text;
}

}  // namespace flashbench
