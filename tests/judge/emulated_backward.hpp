// The backward in a 16-bit dtype as tensor cores run it, on the host: P from S and the LSE, D from
// the 16-bit O of a forward, P and dS rounded as operands of products in fp32. It shares no code
// with the judge. Faults can be planted.
#pragma once

#include "judge/emulated_kernel.hpp"
#include "judge/reference.hpp"

namespace flashbench::testing {

struct EmulatedGradients {
  std::vector<std::vector<float>> dq;  // one a query head of the group, (Sq, d)
  std::vector<float> dk, dv;           // (Sk, d)
};

struct EmulatedBackward {
  // Unfused: D = rowsum(dP * P), of a dP that lies in memory in the dtype, and P normalised.
  bool unfused = false;
  std::int64_t mask_offset = 0;  // by how many keys the mask is off
  // Pairs of a query and a key that are not taken into account.
  std::function<bool(std::int64_t row, std::int64_t key)> loses = nullptr;
  // The same, but only where dK and dV are added up.
  std::function<bool(std::int64_t row)> loses_for_keys = nullptr;
  bool forgets_dots = false;  // dS = P * dP

  EmulatedGradients differentiate(const judge::Inputs&, const judge::Group&) const;

 private:
  struct Head {
    const Problem& problem;
    std::vector<float> q, k, v, d_o, o;
  };
  struct Row {
    std::vector<float> p, ds;  // of the keys that it sees, rounded
  };
  Row row(const Head&, std::int64_t i) const;
  void fused(const Head&, std::int64_t i, const std::vector<float>& dp, Row&) const;
  void unfuse(const Head&, const std::vector<float>& dp, Row&) const;
  void add_head(const Head&, EmulatedGradients&) const;
};

namespace emulated {

// Eight products at a time.
inline float dot(const float* a, const float* b, std::int64_t d) {
  float sum = 0;
  for (std::int64_t x = 0; x < d; x += 8) {
    float part = 0;
    for (std::int64_t y = x; y < std::min(d, x + 8); ++y) part += a[y] * b[y];
    sum += part;
  }
  return sum;
}

inline void add(std::vector<float>& to, std::int64_t row, float factor, const float* x,
                std::int64_t d) {
  for (std::int64_t y = 0; y < d; ++y) to[static_cast<std::size_t>(row * d + y)] += factor * x[y];
}

}  // namespace emulated

// From S in row.p: P with the LSE that a forward saved, both in units of log 2.
inline void EmulatedBackward::fused(const Head& head, std::int64_t i, const std::vector<float>& dp,
                                    Row& row) const {
  const std::int64_t d = head.problem.head_dim;
  float m = -std::numeric_limits<float>::infinity(), l = 0;
  for (const float s : row.p) m = std::max(m, s);
  for (const float s : row.p) l += emulated::power(s - m);
  const float lse = (m + std::log(l)) * 1.4426950408889634f;
  const float dots =
      forgets_dots ? 0 : emulated::dot(head.d_o.data() + i * d, head.o.data() + i * d, d);
  for (std::size_t j = 0; j < row.p.size(); ++j) {
    const float weight = std::exp2(std::min(row.p[j] * 1.4426950408889634f - lse, 0.0f));
    row.p[j] = rounded(head.problem.dtype, weight);
    row.ds[j] = row.p[j] * (dp[j] - dots);
  }
}

inline void EmulatedBackward::unfuse(const Head& head, const std::vector<float>& dp,
                                     Row& row) const {
  float m = -std::numeric_limits<float>::infinity(), l = 0, dots = 0;
  for (const float s : row.p) m = std::max(m, s);
  for (float& p : row.p) l += p = emulated::power(p - m);
  for (std::size_t j = 0; j < row.p.size(); ++j) dots += row.p[j] / l * dp[j];
  if (forgets_dots) dots = 0;
  for (std::size_t j = 0; j < row.p.size(); ++j) {
    row.ds[j] = row.p[j] / l * (dp[j] - dots);
    row.p[j] = rounded(head.problem.dtype, row.p[j] / l);
  }
}

inline EmulatedBackward::Row EmulatedBackward::row(const Head& head, std::int64_t i) const {
  const Problem& p = head.problem;
  const std::int64_t d = p.head_dim;
  std::int64_t seen = p.seq_k;
  if (p.mask == Mask::causal) seen = i + 1 + p.seq_k - p.seq_q + mask_offset;
  seen = std::clamp<std::int64_t>(seen, 0, p.seq_k);
  Row made;
  std::vector<float> dp;
  for (std::int64_t j = 0; j < seen; ++j) {
    const bool lost = loses && loses(i, j);
    const float s = emulated::dot(head.q.data() + i * d, head.k.data() + j * d, d);
    made.p.push_back(lost ? -std::numeric_limits<float>::infinity()
                          : s * static_cast<float>(p.scale));
    dp.push_back(emulated::dot(head.d_o.data() + i * d, head.v.data() + j * d, d));
    if (unfused) dp.back() = rounded(p.dtype, dp.back());
  }
  made.ds.resize(made.p.size());
  if (made.p.empty() || std::isinf(*std::ranges::max_element(made.p))) return {};
  if (unfused)
    unfuse(head, dp, made);
  else
    fused(head, i, dp, made);
  for (float& x : made.ds) x = rounded(p.dtype, x);
  return made;
}

inline void EmulatedBackward::add_head(const Head& head, EmulatedGradients& to) const {
  const std::int64_t d = head.problem.head_dim;
  std::vector<float> dq(head.q.size());
  for (std::int64_t i = 0; i < head.problem.seq_q; ++i) {
    const Row made = row(head, i);
    for (std::size_t at = 0; at < made.p.size(); ++at) {
      const auto j = static_cast<std::int64_t>(at);
      emulated::add(dq, i, made.ds[at], head.k.data() + j * d, d);
      if (loses_for_keys && loses_for_keys(i)) continue;
      emulated::add(to.dk, j, made.ds[at], head.q.data() + i * d, d);
      emulated::add(to.dv, j, made.p[at], head.d_o.data() + i * d, d);
    }
  }
  for (float& x : dq) x = rounded(head.problem.dtype, x * static_cast<float>(head.problem.scale));
  to.dq.push_back(std::move(dq));
}

inline EmulatedGradients EmulatedBackward::differentiate(const judge::Inputs& inputs,
                                                         const judge::Group& group) const {
  const Problem& p = inputs.problem();
  const std::int64_t heads = p.heads / p.kv_heads;
  EmulatedKernel forward;
  forward.mask_offset = mask_offset;
  forward.loses = loses;
  EmulatedGradients made;
  made.dk.resize(static_cast<std::size_t>(p.seq_k * p.head_dim));
  made.dv.resize(made.dk.size());
  for (std::int64_t h = group.kv_head * heads; h < (group.kv_head + 1) * heads; ++h)
    add_head({p, inputs.rows(Tensor::q, group.batch, h, 0, p.seq_q),
              inputs.rows(Tensor::k, group.batch, group.kv_head, 0, p.seq_k),
              inputs.rows(Tensor::v, group.batch, group.kv_head, 0, p.seq_k),
              inputs.rows(Tensor::d_o, group.batch, h, 0, p.seq_q),
              forward.attend(inputs, group.batch, h, 0, p.seq_q)},
             made);
  for (float& x : made.dk) x = rounded(p.dtype, x * static_cast<float>(p.scale));
  for (float& x : made.dv) x = rounded(p.dtype, x);
  return made;
}

}  // namespace flashbench::testing
