// cuBLAS, opened at run time, so that nothing needs it before a product is asked of it.
#pragma once

#include <cstdint>

#include "kernels/cuda/error.hpp"

namespace flashbench::kernels {

// A row-major matrix of 16-bit elements, one of `count` that lie `stride` elements apart.
struct Matrices {
  const void* data;
  std::int64_t row;     // elements between rows
  std::int64_t stride;  // elements between matrices
};

class Cublas {
 public:
  static constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;

  // Throws Failure: unsupported where there is no cuBLAS. The workspace is the caller's.
  explicit Cublas(void* workspace);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  void set_stream(cudaStream_t);
  // C = alpha A B^T (transpose_b) or alpha A B, A (m, k), C (m, n), fp32 inside.
  void multiply(FlashbenchDtype, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                float alpha, const Matrices& a, const Matrices& b, const Matrices& c,
                std::int64_t count) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace flashbench::kernels
