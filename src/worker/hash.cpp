#include "worker/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "worker/parallel.hpp"

namespace flashbench {

std::uint64_t hash_bytes(const void* data, std::int64_t bytes, std::uint64_t start) {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint64_t hash = mix(start + 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(bytes));
  for (; bytes > 0; bytes -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, static_cast<std::size_t>(std::min<std::int64_t>(bytes, 8)));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return mix(hash);
}

std::uint64_t hash_bytes_parallel(const void* data, std::int64_t bytes) {
  constexpr std::int64_t piece = 1 << 20;
  const auto* at = static_cast<const unsigned char*>(data);
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>((bytes + piece - 1) / piece));
  parallel_for(static_cast<std::int64_t>(hashes.size()), [&](std::int64_t i) {
    hashes[static_cast<std::size_t>(i)] =
        hash_bytes(at + i * piece, std::min(piece, bytes - i * piece));
  });
  return hash_bytes(hashes.data(), static_cast<std::int64_t>(hashes.size() * 8));
}

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

}  // namespace flashbench
