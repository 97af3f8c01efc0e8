// The shape of a tensor in a .npy file, without its data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flashbench {

// Throws UsageError naming the file and what is wrong with it.
std::vector<std::int64_t> npy_shape(const std::string& path);

}  // namespace flashbench
