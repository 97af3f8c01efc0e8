// Memory that is not cleared first: its pages are touched by the threads that fill it, instead of
// all by the one that allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace flashbench {

class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::int64_t size)
      : data_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(size))),
        size_(static_cast<std::size_t>(size)) {}
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
};

}  // namespace flashbench
