// What stands before the elements of NumPy's .npy files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flashbench {

enum class NpyType : std::int64_t { f2 = 2, f4 = 4, f8 = 8 };  // by the bytes of an element

struct NpyHeader {
  std::vector<std::int64_t> shape;
  NpyType type = NpyType::f4;
  std::int64_t offset = 0, bytes = 0;  // of the elements in the file
};

// Throws std::runtime_error naming the file, what is wrong with it and what would be right: a file
// that is missing, cut off or too long, no .npy of version 1 to 3, not in C order, or not of
// little-endian float16, float32 or float64.
NpyHeader read_npy_header(const std::string& path);

}  // namespace flashbench
