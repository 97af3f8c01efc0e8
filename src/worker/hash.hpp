// Integer hashes: the source of generated inputs, and the fingerprint of outputs.
#pragma once

#include <cstdint>
#include <string>

namespace flashbench {

// splitmix64's finaliser: a bijection in which every input bit moves every output bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t hash_bytes(const void* data, std::int64_t bytes, std::uint64_t start = 0);
// The same for any number of threads: pieces of fixed size, combined in order.
std::uint64_t hash_bytes_parallel(const void* data, std::int64_t bytes);
std::string hex(std::uint64_t);

}  // namespace flashbench
