// Attention in a 16-bit dtype as tensor cores run it, on the host: products of 16 keys at a time in
// fp32, tiles of keys with a running maximum, P rounded relative to it. It shares no code with the
// judge. Faults can be planted.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "judge/inputs.hpp"
#include "worker/dtype.hpp"

namespace flashbench::testing {

struct EmulatedKernel {
  std::int64_t tile = 64;        // keys
  bool descending = false;       // the last tile first
  bool rounded_scores = false;   // unfused: S and P lie in memory in the dtype
  std::int64_t mask_offset = 0;  // by how many keys the mask is off
  // Keys that a row does not take into account.
  std::function<bool(std::int64_t row, std::int64_t key)> loses = nullptr;
  std::int64_t unwritten_row = -1;

  // O of query rows [first, first + rows) of a head: (rows, d).
  std::vector<float> attend(const judge::Inputs&, std::int64_t batch, std::int64_t head,
                            std::int64_t first, std::int64_t rows) const;

 private:
  struct Head {
    const Problem& problem;
    std::vector<float> q, k, v;
  };
  std::vector<float> scores(const Head&, std::int64_t row, const float* q) const;
  std::vector<float> fused_row(const Head&, const std::vector<float>& s) const;
  std::vector<float> unfused_row(const Head&, std::vector<float> s) const;
};

namespace emulated {

inline constexpr std::int64_t step = 16;  // keys a product takes at once

// o += P V over keys [begin, end), whose P is p[0], p[1], ...
inline void accumulate(std::vector<float>& o, const float* p, const std::vector<float>& v,
                       std::int64_t begin, std::int64_t end) {
  const auto d = static_cast<std::int64_t>(o.size());
  std::vector<float> part(o.size());
  for (std::int64_t first = begin; first < end; first += step) {
    std::ranges::fill(part, 0.0f);
    for (std::int64_t j = first; j < std::min(end, first + step); ++j)
      for (std::int64_t x = 0; x < d; ++x)
        part[static_cast<std::size_t>(x)] += p[j - begin] * v[static_cast<std::size_t>(j * d + x)];
    for (std::size_t x = 0; x < o.size(); ++x) o[x] += part[x];
  }
}

inline float power(float x) {
  return std::exp2(x * 1.4426950408889634f);
}

}  // namespace emulated

inline std::vector<float> EmulatedKernel::scores(const Head& head, std::int64_t row,
                                                 const float* q) const {
  const Problem& p = head.problem;
  std::int64_t seen = p.seq_k;
  if (p.mask == Mask::causal) seen = row + 1 + p.seq_k - p.seq_q + mask_offset;
  std::vector<float> s(static_cast<std::size_t>(std::clamp<std::int64_t>(seen, 0, p.seq_k)));
  for (std::size_t j = 0; j < s.size(); ++j) {
    const float* k = head.k.data() + static_cast<std::int64_t>(j) * p.head_dim;
    float dot = 0;
    for (std::int64_t x = 0; x < p.head_dim; x += 8) {
      float part = 0;
      for (std::int64_t y = x; y < std::min(p.head_dim, x + 8); ++y) part += q[y] * k[y];
      dot += part;
    }
    s[j] = dot * static_cast<float>(p.scale);
    if (rounded_scores) s[j] = rounded(p.dtype, s[j]);
    if (loses && loses(row, static_cast<std::int64_t>(j)))
      s[j] = -std::numeric_limits<float>::infinity();
  }
  return s;
}

inline std::vector<float> EmulatedKernel::fused_row(const Head& head,
                                                    const std::vector<float>& s) const {
  const auto keys = static_cast<std::int64_t>(s.size()), tiles = (keys + tile - 1) / tile;
  std::vector<float> o(static_cast<std::size_t>(head.problem.head_dim)), p;
  float m = -std::numeric_limits<float>::infinity(), l = 0;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t begin = (descending ? tiles - 1 - t : t) * tile;
    const std::int64_t end = std::min(keys, begin + tile);
    const float m_new = std::max(m, *std::max_element(s.begin() + begin, s.begin() + end));
    if (std::isinf(m_new)) continue;
    const float correction = emulated::power(m - m_new);
    l *= correction;
    for (float& x : o) x *= correction;
    m = m_new;
    p.clear();
    for (std::int64_t j = begin; j < end; ++j) {
      const float weight = emulated::power(s[static_cast<std::size_t>(j)] - m);
      l += weight;
      p.push_back(rounded(head.problem.dtype, weight));
    }
    emulated::accumulate(o, p.data(), head.v, begin, end);
  }
  for (float& x : o) x = l > 0 ? x / l : 0;
  return o;
}

inline std::vector<float> EmulatedKernel::unfused_row(const Head& head,
                                                      std::vector<float> s) const {
  std::vector<float> o(static_cast<std::size_t>(head.problem.head_dim));
  float m = -std::numeric_limits<float>::infinity(), l = 0;
  for (const float x : s) m = std::max(m, x);
  if (std::isinf(m)) return o;
  for (float& x : s) l += x = emulated::power(x - m);
  for (float& x : s) x = rounded(head.problem.dtype, x * (1 / l));
  emulated::accumulate(o, s.data(), head.v, 0, static_cast<std::int64_t>(s.size()));
  return o;
}

inline std::vector<float> EmulatedKernel::attend(const judge::Inputs& inputs, std::int64_t batch,
                                                 std::int64_t head, std::int64_t first,
                                                 std::int64_t rows) const {
  const Problem& p = inputs.problem();
  const std::int64_t kv = inputs.kv_head(head);
  const Head tensors{p, inputs.rows(Tensor::q, batch, head, first, rows),
                     inputs.rows(Tensor::k, batch, kv, 0, p.seq_k),
                     inputs.rows(Tensor::v, batch, kv, 0, p.seq_k)};
  std::vector<float> result;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto s = scores(tensors, first + i, tensors.q.data() + i * p.head_dim);
    for (const float x : rounded_scores ? unfused_row(tensors, s) : fused_row(tensors, s))
      result.push_back(first + i == unwritten_row ? std::numeric_limits<float>::quiet_NaN()
                                                  : rounded(p.dtype, x));
  }
  return result;
}

}  // namespace flashbench::testing
