// The CPU's share of the index.
#include "kernels/index.hpp"

#include <vector>

namespace flashbench::kernels {

const FlashbenchPlugin& builtin() {
  static const std::vector<FlashbenchImplementation> rows = [] {
    std::vector<FlashbenchImplementation> found;
    Index::each([&]<class T>() {
      if constexpr (OnCpu<T>) found.push_back(named(T::facts, T::cpu()));
    });
    return found;
  }();
  static const FlashbenchPlugin plugin{FLASHBENCH_ABI, FLASHBENCH_CPU,
                                       static_cast<uint32_t>(rows.size()), rows.data()};
  return plugin;
}

}  // namespace flashbench::kernels
