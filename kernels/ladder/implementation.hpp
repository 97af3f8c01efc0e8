// The rungs of the ladder as implementations, each with a forward on a GPU.
#pragma once

#include <utility>

#include "kernels/ladder/steps.hpp"

namespace flashbench::kernels {

// Of a rung of steps.hpp; in implementation_cuda.cpp.
FlashbenchImplementation rung_cuda(const Rung&);

template <const auto& steps, std::size_t i>
struct StepOf {
  static constexpr Facts facts = steps[i].facts;
  static FlashbenchImplementation cuda() { return rung_cuda(steps[i].rung); }
};

template <const auto& steps, std::size_t... i>
Implementations<StepOf<steps, i>...> all_of(std::index_sequence<i...>);

template <const auto& steps>
using Steps = decltype(all_of<steps>(std::make_index_sequence<steps.size()>{}));

using Ladder = Implementations<Steps<ladder>, Steps<without>>;

}  // namespace flashbench::kernels
