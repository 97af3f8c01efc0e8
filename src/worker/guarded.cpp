#include "worker/guarded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace flashbench {

namespace {

constexpr std::uint8_t plain = 0xa5, nan = 0xff;
constexpr std::int64_t longest_band = 16 << 20;

std::int64_t after_bytes(std::int64_t nan_after) {
  return std::clamp(nan_after, Guarded::band, longest_band);
}

}  // namespace

Guarded::Guarded(DeviceBackend& backend, std::string name, std::int64_t bytes,
                 std::int64_t nan_after)
    : backend_(&backend),
      name_(std::move(name)),
      base_(static_cast<std::byte*>(backend.allocate(footprint(bytes, nan_after)))),
      bytes_(bytes),
      after_(after_bytes(nan_after)),
      after_pattern_(nan_after > 0 ? nan : plain) {
  mend();
}

Guarded::~Guarded() {
  if (base_) backend_->release(base_);
}

void Guarded::swap(Guarded& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(name_, other.name_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(after_, other.after_);
  std::swap(after_pattern_, other.after_pattern_);
}

std::int64_t Guarded::footprint(std::int64_t bytes, std::int64_t nan_after) {
  return band + bytes + after_bytes(nan_after);
}

void Guarded::poison() {
  if (bytes_ > 0) backend_->fill(data(), nan, bytes_);
}

void Guarded::mend() {
  if (!base_) return;
  backend_->fill(base_, plain, band);
  backend_->fill(base_ + band + bytes_, after_pattern_, after_);
}

std::string Guarded::broken() const {
  if (!base_) return {};
  std::string reason = overwritten(base_, band, plain, "before");
  if (reason.empty())
    reason = overwritten(base_ + band + bytes_, after_, after_pattern_, "past the end of");
  return reason;
}

std::string Guarded::overwritten(const std::byte* from, std::int64_t bytes, std::uint8_t pattern,
                                 const char* side) const {
  std::vector<std::uint8_t> found(static_cast<std::size_t>(bytes));
  backend_->download(found.data(), from, bytes);
  const auto at =
      std::find_if(found.begin(), found.end(), [&](std::uint8_t byte) { return byte != pattern; });
  if (at == found.end()) return {};
  const std::int64_t offset = at - found.begin();
  return fmt::format("memory {} {} was overwritten ({} bytes {} it)", side, name_,
                     from < data() ? bytes - offset : offset, from < data() ? "before" : "after");
}

}  // namespace flashbench
