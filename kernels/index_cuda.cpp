// The share of the index that runs on a GPU.
#include "kernels/index.hpp"

#include <vector>

namespace flashbench::kernels {

const FlashbenchPlugin& builtin() {
  static const std::vector<FlashbenchImplementation> rows = [] {
    std::vector<FlashbenchImplementation> found;
    Index::each([&]<class T>() {
      if constexpr (OnCuda<T>) found.push_back(named(T::facts, T::cuda()));
    });
    return found;
  }();
  static const FlashbenchPlugin plugin{FLASHBENCH_ABI, FLASHBENCH_CUDA,
                                       static_cast<uint32_t>(rows.size()), rows.data()};
  return plugin;
}

}  // namespace flashbench::kernels
