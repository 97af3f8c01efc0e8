// What this processor reaches at its best, on all cores: the library's large product, the kernels'
// own exponential on rows that stay in the first cache, and a copy that no cache near a core holds.
#include <cblas.h>

#include <cstring>
#include <vector>

#include "kernels/ceilings/ceilings.hpp"
#include "kernels/cpu/adapter.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/cpu/tile.hpp"
#include "kernels/cpu/vector.hpp"

namespace flashbench::kernels {
namespace {

class Sgemm {
 public:
  explicit Sgemm(int threads)
      : threads_(threads), a_(kSize * kSize, 0.5f), b_(kSize * kSize, 0.25f), c_(kSize * kSize) {}
  static double work() { return 2.0 * kSize * kSize * kSize; }  // FLOPs
  void run() {
    const cpu::BlasThreads all(threads_);
    const auto n = static_cast<blasint>(kSize);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, a_.data(), n, b_.data(),
                n, 0.0f, c_.data(), n);
  }

 private:
  static constexpr size_t kSize = 1024;
  int threads_;
  std::vector<float> a_, b_, c_;
};

class Exponentials {  // the CPU's kernels evaluate e^x; what binds is its rate, under one name
 public:
  explicit Exponentials(int threads)
      : pool_(threads), rows_(static_cast<size_t>(threads) * kRow, -1.0f) {}
  static double work() { return static_cast<double>(kRow) * kRepeats * kTasks; }  // evaluations
  void run() {
    pool_.run(kTasks, [this](int64_t, int worker) {
      float* row = rows_.data() + static_cast<size_t>(worker) * kRow;
      for (int repeat = 0; repeat < kRepeats; ++repeat)
        cpu::row_exp(row, kRow, 2.0f, FLASHBENCH_FP32);  // x < 1 makes an x < 1 again
    });
  }

 private:
  static constexpr int64_t kRow = 2048, kTasks = 64;
  static constexpr int kRepeats = 256;
  cpu::Pool pool_;
  std::vector<float> rows_;
};

class Copy {
 public:
  explicit Copy(int threads) : pool_(threads), from_(kBytes, 'a'), to_(kBytes, 'b') {}
  static double work() { return 2.0 * kBytes; }  // bytes, read + written
  void run() {
    pool_.run(kBytes / kChunk, [this](int64_t chunk, int) {
      const size_t first = static_cast<size_t>(chunk) * kChunk;
      std::memcpy(to_.data() + first, from_.data() + first, kChunk);
    });
  }

 private:
  static constexpr size_t kBytes = size_t{128} << 20;
  static constexpr size_t kChunk = size_t{4} << 20;
  cpu::Pool pool_;
  std::vector<char> from_, to_;
};

template <class Kind>
constexpr Ceiling ceiling(const char* name) {
  return {
      name,
      [](const FlashbenchDevice* device, void** state, double* work, FlashbenchMessage* message) {
        return cpu::guarded(message, [&] {
          *state = new Kind(cpu::thread_count(*device));
          *work = Kind::work();
        });
      },
      [](void* state, void*, FlashbenchMessage* message) {
        return cpu::guarded(message, [&] { static_cast<Kind*>(state)->run(); });
      },
      [](void* state) { delete static_cast<Kind*>(state); }};
}

}  // namespace

std::span<const Ceiling> ceilings() {
  static constexpr Ceiling kCeilings[] = {ceiling<Sgemm>("sgemm"), ceiling<Exponentials>("exp2"),
                                          ceiling<Copy>("copy")};
  return kCeilings;
}

}  // namespace flashbench::kernels
