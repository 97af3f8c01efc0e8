// A device buffer between two guard bands.
#pragma once

#include <string>

#include "worker/device_backend.hpp"

namespace flashbench {

// The bands hold a pattern that broken() looks for. Behind K and V the band is at least as long as
// a tile reads and is NaN in every dtype, so that keys read past the end show in the output.
class Guarded {
 public:
  static constexpr std::int64_t band = 4096;

  Guarded() = default;
  // nan_after: bytes of NaN behind the data; 0 for a plain band. Throws DeviceFailure.
  Guarded(DeviceBackend&, std::string name, std::int64_t bytes, std::int64_t nan_after = 0);
  ~Guarded();
  Guarded(Guarded&& other) noexcept { swap(other); }
  Guarded& operator=(Guarded&& other) noexcept {
    swap(other);
    return *this;
  }

  static std::int64_t footprint(std::int64_t bytes, std::int64_t nan_after = 0);
  void* data() const { return base_ ? base_ + band : nullptr; }
  std::int64_t bytes() const { return bytes_; }
  // Fills the data with bytes that are NaN in every dtype.
  void poison();
  // A sentence about the first byte that was overwritten outside the data; empty when intact.
  std::string broken() const;
  // Makes the bands what they were.
  void mend();

 private:
  void swap(Guarded& other) noexcept;
  std::string overwritten(const std::byte* from, std::int64_t bytes, std::uint8_t pattern,
                          const char* side) const;

  DeviceBackend* backend_ = nullptr;
  std::string name_;
  std::byte* base_ = nullptr;
  std::int64_t bytes_ = 0, after_ = 0;
  std::uint8_t after_pattern_ = 0;
};

}  // namespace flashbench
