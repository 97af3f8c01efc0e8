#include "kernels/cuda/cublas.hpp"

#include <dlfcn.h>
#include <library_types.h>

#include <algorithm>

namespace flashbench::kernels {
namespace {

// Own prototypes of cublas_api.h; its enums as integers. The same in cuBLAS 12 and 13.
constexpr int transpose_no = 0, transpose_yes = 1, compute_32f = 68, algorithm_default = -1;

struct Library {
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*set_stream)(void*, cudaStream_t) = nullptr;
  int (*set_workspace)(void*, void*, std::size_t) = nullptr;
  int (*gemm)(void*, int, int, int, int, int, const void*, const void*, cudaDataType, int,
              long long, const void*, cudaDataType, int, long long, const void*, void*,
              cudaDataType, int, long long, int, int, int) = nullptr;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Library open() {
  Library l;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      if (find(library, "cublasCreate_v2", l.create) &&
          find(library, "cublasDestroy_v2", l.destroy) &&
          find(library, "cublasSetStream_v2", l.set_stream) &&
          find(library, "cublasSetWorkspace_v2", l.set_workspace) &&
          find(library, "cublasGemmStridedBatchedEx", l.gemm))
        return l;
  throw Failure(FLASHBENCH_UNSUPPORTED,
                "needs cuBLAS: neither libcublas.so.13 nor libcublas.so.12 can be opened");
}

const Library& library() {
  static const Library instance = open();
  return instance;
}

void check(int status, const char* call) {
  if (status != 0)
    throw Failure(status == 3 ? FLASHBENCH_OUT_OF_MEMORY : FLASHBENCH_FAILED,
                  std::string(call) + " returned " + std::to_string(status));
}

int narrow(std::int64_t x) {
  if (x > 2147483647)
    throw Failure(FLASHBENCH_UNSUPPORTED, "cuBLAS takes row strides and sizes below 2^31 only");
  return static_cast<int>(x);
}

}  // namespace

Cublas::Cublas(void* workspace) : workspace_(workspace) {
  check(library().create(&handle_), "cublasCreate");
}

Cublas::~Cublas() {
  library().destroy(handle_);
}

void Cublas::set_stream(cudaStream_t stream) {
  check(library().set_stream(handle_, stream), "cublasSetStream");  // forgets the workspace
  check(library().set_workspace(handle_, workspace_, workspace_bytes), "cublasSetWorkspace");
}

// cuBLAS is column-major: it is asked for C^T = B^T A^T.
void Cublas::multiply(FlashbenchDtype dtype, const Product& p, const Matrices& a, const Matrices& b,
                      const Matrices& c, std::int64_t count) const {
  constexpr std::int64_t most = 32768;  // matrices a call
  const cudaDataType type = dtype == FLASHBENCH_FP16 ? CUDA_R_16F : CUDA_R_16BF;
  const cudaDataType result = p.fp32_result ? CUDA_R_32F : type;
  auto at = [](const Matrices& x, std::int64_t i, std::int64_t bytes) {
    return static_cast<const char*>(x.data) + bytes * i * x.stride;
  };
  auto operation = [](bool transpose) { return transpose ? transpose_yes : transpose_no; };
  for (std::int64_t i = 0; i < count; i += most)
    check(
        library().gemm(handle_, operation(p.transpose_b), operation(p.transpose_a), narrow(p.n),
                       narrow(p.m), narrow(p.k), &p.alpha, at(b, i, 2), type, narrow(b.row),
                       b.stride, at(a, i, 2), type, narrow(a.row), a.stride, &p.beta,
                       const_cast<char*>(at(c, i, p.fp32_result ? 4 : 2)), result, narrow(c.row),
                       c.stride, narrow(std::min(most, count - i)), compute_32f, algorithm_default),
        "cublasGemmStridedBatchedEx");
}

}  // namespace flashbench::kernels
