// The shape of a tensor in a .npy file, without its data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flashbench {

// Throws UsageError naming the file, what is wrong with it and what would be right: a file that is
// missing, cut off or too long, no .npy of version 1 to 3, not in C order, or not of little-endian
// float16, float32 or float64.
std::vector<std::int64_t> npy_shape(const std::string& path);

}  // namespace flashbench
