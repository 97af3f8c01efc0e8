// The closed sets of words that a user types and a report holds. name() and parse() are each
// other's inverse.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace flashbench {

enum class Dtype { fp32, fp16, bf16 };
enum class Mask { full, causal };
enum class Layout { bshd, bhsd };
enum class Init { normal, uniform, outlier, constant, zeros, loaded };
enum class Pass { fwd, bwd, fwd_bwd };
enum class Cache { cold, warm };
enum class Backend { cpu, cuda };
enum class Status { ok, failed, unsupported, oom, crashed, timeout, not_run };
enum class Verdict { pass, fail, not_checked };
enum class Pipe { none, sgemm, gemm, mma, wgmma };

template <class Enum>
struct Words;  // its spellings, in the enumerators' order

template <>
struct Words<Dtype> {
  static constexpr std::array<std::string_view, 3> all{"fp32", "fp16", "bf16"};
};
template <>
struct Words<Mask> {
  static constexpr std::array<std::string_view, 2> all{"full", "causal"};
};
template <>
struct Words<Layout> {
  static constexpr std::array<std::string_view, 2> all{"bshd", "bhsd"};
};
template <>
struct Words<Init> {
  static constexpr std::array<std::string_view, 6> all{"normal",   "uniform", "outlier",
                                                       "constant", "zeros",   "loaded"};
};
template <>
struct Words<Pass> {
  static constexpr std::array<std::string_view, 3> all{"fwd", "bwd", "fwd+bwd"};
};
template <>
struct Words<Cache> {
  static constexpr std::array<std::string_view, 2> all{"cold", "warm"};
};
template <>
struct Words<Backend> {
  static constexpr std::array<std::string_view, 2> all{"cpu", "cuda"};
};
template <>
struct Words<Status> {
  static constexpr std::array<std::string_view, 7> all{"ok",      "failed",  "unsupported", "oom",
                                                       "crashed", "timeout", "not_run"};
};
template <>
struct Words<Verdict> {
  static constexpr std::array<std::string_view, 3> all{"pass", "fail", "not_checked"};
};
template <>
struct Words<Pipe> {
  static constexpr std::array<std::string_view, 5> all{"none", "sgemm", "gemm", "mma", "wgmma"};
};

template <class Enum>
constexpr std::string_view name(Enum value) {
  return Words<Enum>::all[static_cast<std::size_t>(value)];
}

template <class Enum>
constexpr std::optional<Enum> parse(std::string_view word) {
  for (std::size_t i = 0; i < Words<Enum>::all.size(); ++i)
    if (Words<Enum>::all[i] == word) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace flashbench
