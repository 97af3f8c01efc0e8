// NumPy's .npy files: tensors to and from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "record/npy_header.hpp"
#include "worker/bytes.hpp"

namespace flashbench {

struct NpyArray {
  std::vector<std::int64_t> shape;
  NpyType type = NpyType::f4;
  Bytes data;
  std::int64_t elements() const;
  // The elements from `first` on, as fp32 (f8 is rounded).
  void read(std::int64_t first, std::int64_t count, float* to) const;
};

// Throws std::runtime_error naming the file and the cause, as read_npy_header does.
NpyArray read_npy(const std::string& path);
// What write_npy writes.
std::int64_t npy_bytes(const std::vector<std::int64_t>& shape, NpyType);
// Throws WriteError and leaves no torn file behind.
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, NpyType,
               const void* data);

}  // namespace flashbench
