#include <algorithm>
#include <bit>
#include <cmath>

#include "plugins/faults/fault.hpp"
#include "plugins/faults/host_access.hpp"

namespace flashbench::faults {

namespace {

// Rounds to the significant bits of the dtype; exact where nothing over- or underflows (Veltkamp).
struct Rounding {
  float factor;  // 2^(24 - bits) + 1
  float operator()(float x) const {
    const float scaled = factor * x;
    return scaled - (scaled - x);
  }
};

// The elements of a 16-bit tensor, between the device's memory and floats.
class Element {
 public:
  explicit Element(FlashbenchDtype dtype) : half_(dtype == FLASHBENCH_FP16) {}
  float load(std::uint16_t bits) const {
    if (!half_) return std::bit_cast<float>(std::uint32_t{bits} << 16);
    const float size = std::ldexp(static_cast<float>(bits & 0x3ff) + (bits & 0x7c00 ? 1024.0F : 0),
                                  std::max((bits >> 10 & 0x1f), 1) - 25);
    return bits & 0x8000 ? -size : size;
  }
  std::uint16_t store(float value) const {  // of a value that is rounded already
    if (!half_) return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const float size = std::abs(value);
    if (size < std::ldexp(1.0F, -14))
      return static_cast<std::uint16_t>(sign | std::lround(std::ldexp(size, 24)));
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(size);
    return static_cast<std::uint16_t>(sign | ((bits - (112U << 23)) >> 13));
  }

 private:
  bool half_;
};

using Rows = std::vector<float>;  // (rows, d) of one head

Rows read_head(const FlashbenchTensor& tensor, std::int64_t b, std::int64_t h, std::int64_t rows,
               std::int64_t d, const Element& element, void* stream) {
  const auto width = static_cast<std::size_t>(d);
  Rows head;
  std::vector<std::uint16_t> row(width);
  for (std::int64_t s = 0; s < rows; ++s) {
    const std::int64_t at = b * tensor.batch + s * tensor.seq + h * tensor.head;
    to_host(row.data(), static_cast<const std::uint16_t*>(tensor.data) + at, 2 * d, stream);
    for (const std::uint16_t bits : row) head.push_back(element.load(bits));
  }
  return head;
}

// One row of O; `scores` has room for a score a key. Returns the LSE.
float attend(const float* q, const Rows& k, const Rows& v, std::int64_t d, float scale,
             const Rounding& rounded, Rows& scores, float* o) {
  float m = -INFINITY;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    float dot = 0;
    for (std::int64_t x = 0; x < d; ++x)
      dot = rounded(
          dot + rounded(q[x] * k[j * static_cast<std::size_t>(d) + static_cast<std::size_t>(x)]));
    scores[j] = rounded(scale * dot);
    m = std::max(m, scores[j]);
  }
  float l = 0;
  std::fill(o, o + d, 0.0F);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const float weight = rounded(std::exp(rounded(scores[j] - m)));
    l = rounded(l + weight);
    for (std::int64_t x = 0; x < d; ++x)
      o[x] =
          rounded(o[x] + rounded(weight *
                                 v[j * static_cast<std::size_t>(d) + static_cast<std::size_t>(x)]));
  }
  for (std::int64_t x = 0; x < d; ++x) o[x] = rounded(o[x] / l);
  return m + std::log(l);
}

}  // namespace

void attend_in_16_bits(const FlashbenchProblem& p, const FlashbenchForward& args, Memory&,
                       void* stream) {
  if (p.dtype == FLASHBENCH_FP32) return;
  const Element element(p.dtype);
  const Rounding rounded{std::ldexp(1.0F, p.dtype == FLASHBENCH_FP16 ? 13 : 16) + 1};
  const std::int64_t d = p.head_dim;
  Rows scores(static_cast<std::size_t>(p.seq_k)), o(static_cast<std::size_t>(d));
  std::vector<std::uint16_t> narrow(static_cast<std::size_t>(d));
  std::vector<float> lse;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t h = 0; h < p.query_heads; ++h) {
      const std::int64_t kv = h * p.kv_heads / p.query_heads;
      const Rows q = read_head(args.q, b, h, p.seq_q, d, element, stream);
      const Rows k = read_head(args.k, b, kv, p.seq_k, d, element, stream);
      const Rows v = read_head(args.v, b, kv, p.seq_k, d, element, stream);
      for (std::int64_t i = 0; i < p.seq_q; ++i) {
        lse.push_back(attend(q.data() + i * d, k, v, d, static_cast<float>(p.scale), rounded,
                             scores, o.data()));
        for (std::size_t x = 0; x < o.size(); ++x) narrow[x] = element.store(o[x]);
        const std::int64_t at = b * args.o.batch + i * args.o.seq + h * args.o.head;
        from_host(static_cast<std::uint16_t*>(args.o.data) + at, narrow.data(), 2 * d, stream);
      }
    }
  from_host(args.lse, lse.data(), bytes_of_lse(p), stream);
}

}  // namespace flashbench::faults
