// Which rows of a report a claim is judged by. Rows of another build are never among them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "claims/claims.hpp"

namespace flashbench {

using Rows = std::vector<const Row*>;
struct RowPair {
  const Row *one = nullptr, *other = nullptr;
};

struct Wanted {
  std::string_view impl;
  Pass pass = Pass::fwd;
  Mask mask = Mask::full;
};
namespace findings {
inline constexpr Wanted v1{"v1"}, v2{"v2"};
}
std::string described(const Wanted&);  // "v1 fwd full"
std::string tokens(std::int64_t seq);  // "8k", "1000"

// On the report's device (the GPU's, where a CPU's rows stand beside them), whatever their status.
Rows rows_of(const Report&, const Wanted&);
// Those that are ok and have a time; for each sequence, head dimension and so on only those of the
// most batch x heads. In the order of their sequences.
Rows timed_rows(const Report&, const Wanted&);
// Of the timed rows of both, those that answer the same question (but for the mask).
std::vector<RowPair> timed_pairs(const Report&, const Wanted& one, const Wanted& other);
// The fp32 pairs that counted what they did while they ran, and the longest of them; null where
// there is none. Rows whose numbers are wrong are among them only where a claim is about the
// numbers.
enum class Wrong { left_out, taken };
std::vector<RowPair> counted_pairs(const Report&, const Wanted& one, const Wanted& other,
                                   Wrong = Wrong::left_out);
std::optional<RowPair> counted_pair(const Report&, const Wanted& one, const Wanted& other,
                                    Wrong = Wrong::left_out);

// batch x heads.
double heads_of(const Problem&);
// The judge's verdict on a tensor; not_checked where it gave none.
Verdict verdict_on(const Row&, std::string_view tensor);
// The longest row in which the judge saw that tensor.
const Row* checked(const Report&, const Wanted&, std::string_view tensor);
// Why nothing can be said of these rows: there are none, or what became of them.
std::string why_none(const Report&, const Wanted&);
std::string why_no_pairs(const Report&, const Wanted& one, const Wanted& other);

Finding stand(bool holds, std::string figures);
Finding cannot_tell(std::string reason);

}  // namespace flashbench
