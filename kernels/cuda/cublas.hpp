// cuBLAS, opened at run time, so that nothing needs it before a product is asked of it.
#pragma once

#include <cstdint>

#include "kernels/cuda/error.hpp"

namespace flashbench::kernels {

// A row-major matrix, one of several that lie `stride` elements apart.
struct Matrices {
  const void* data;
  std::int64_t row;     // elements between rows
  std::int64_t stride;  // elements between matrices
};

// C = alpha A B + beta C. A is (m, k) or, if transposed, (k, m); B is (k, n) or (n, k); C is (m,
// n). A and B have the dtype's elements; C has, too, or is fp32. Sums are fp32.
struct Product {
  std::int64_t m, n, k;
  bool transpose_a = false, transpose_b = false;
  float alpha = 1, beta = 0;
  bool fp32_result = false;
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
  void multiply(FlashbenchDtype, const Product&, const Matrices& a, const Matrices& b,
                const Matrices& c, std::int64_t count) const;

 private:
  void* handle_ = nullptr;
  void* workspace_;
};

}  // namespace flashbench::kernels
