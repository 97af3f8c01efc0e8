// The rungs of the ladder as implementations on a GPU. A name has a rung in each pass that has its
// idea; where that is the backward alone, some forward gives it O and statistics.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/ladder/backward_steps.hpp"

namespace flashbench::kernels {

struct LadderEntry {
  Facts facts;
  std::optional<Rung> forward;
  std::optional<BackwardRung> backward;
};

template <class AnyStep>
constexpr auto called(std::string_view name) {
  return [name](const AnyStep& step) { return name == step.facts.name; };
}

// The steps of both passes, so that those of each keep their order; those of one name are one
// entry.
template <const auto& forward, const auto& backward>
constexpr auto joined() {
  constexpr std::size_t shared = std::ranges::count_if(forward, [](const Step& step) {
    return std::ranges::any_of(backward, called<BackwardStep>(step.facts.name));
  });
  std::array<LadderEntry, forward.size() + backward.size() - shared> all{};
  std::size_t n = 0;
  auto next = backward.begin();
  const auto take_until = [&](auto end) {
    for (; next != end; ++next) all[n++] = {next->facts, {}, next->rung};
  };
  for (const Step& step : forward) {
    const auto same = std::ranges::find_if(backward, called<BackwardStep>(step.facts.name));
    if (same != backward.end()) take_until(same);
    all[n] = {step.facts, step.rung, {}};
    if (same != backward.end()) {
      all[n].facts.passes |= same->facts.passes;
      all[n].backward = same->rung;
      next = same + 1;
    }
    ++n;
  }
  take_until(backward.end());
  return all;
}

inline constexpr auto ladder_entries = joined<ladder, backward_ladder>();
inline constexpr auto without_entries = joined<without, backward_without>();

// In implementation_cuda.cpp.
FlashbenchImplementation rung_cuda(const LadderEntry&);

template <const auto& entries, std::size_t i>
struct RungOf {
  static constexpr Facts facts = entries[i].facts;
  static FlashbenchImplementation cuda() { return rung_cuda(entries[i]); }
};

template <const auto& entries, std::size_t... i>
Implementations<RungOf<entries, i>...> all_of(std::index_sequence<i...>);

template <const auto& entries>
using Rungs = decltype(all_of<entries>(std::make_index_sequence<entries.size()>{}));

using Ladder = Implementations<Rungs<ladder_entries>, Rungs<without_entries>>;

}  // namespace flashbench::kernels
