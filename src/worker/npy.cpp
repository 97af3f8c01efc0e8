#include "worker/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "record/write_error.hpp"
#include "worker/dtype.hpp"
#include "worker/parallel.hpp"

namespace flashbench {

namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view magic{"\x93NUMPY", 6};

[[noreturn]] void fail(const std::string& path, const std::string& cause) {
  throw std::runtime_error(fmt::format("{}: {}", path, cause));
}

std::int64_t size_of(NpyType type) {
  return static_cast<std::int64_t>(type);
}

std::int64_t data_bytes(const std::vector<std::int64_t>& shape, NpyType type) {
  std::int64_t bytes = size_of(type);
  for (const std::int64_t extent : shape) bytes *= extent;
  return bytes;
}

// All that stands before the data, a multiple of 64 bytes.
std::string header_of(const std::vector<std::int64_t>& shape, NpyType type) {
  std::string header =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}{}), }}", size_of(type),
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  header.append(63 - (magic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  const char size[] = {static_cast<char>(header.size() & 0xff),
                       static_cast<char>(header.size() >> 8)};
  return std::string(magic) + '\1' + '\0' + size[0] + size[1] + header;
}

}  // namespace

std::int64_t NpyArray::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

void NpyArray::read(std::int64_t first, std::int64_t count, float* to) const {
  const std::byte* from = data.data() + first * size_of(type);
  if (type == NpyType::f2) return widen(Dtype::fp16, from, to, count);
  if (type == NpyType::f4) return widen(Dtype::fp32, from, to, count);
  for (std::int64_t i = 0; i < count; ++i) {
    double value = 0;
    std::memcpy(&value, from + i * 8, 8);
    to[i] = static_cast<float>(value);
  }
}

NpyArray read_npy(const std::string& path) {
  NpyHeader header = read_npy_header(path);
  NpyArray array{std::move(header.shape), header.type, Bytes(header.bytes)};
  constexpr std::int64_t piece = 4 << 20;
  parallel_for((header.bytes + piece - 1) / piece, [&](std::int64_t i) {
    const std::int64_t bytes = std::min(piece, header.bytes - i * piece);
    std::ifstream file(path, std::ios::binary);
    file.seekg(header.offset + i * piece);
    file.read(reinterpret_cast<char*>(array.data.data()) + i * piece, bytes);
    if (!file) fail(path, "could not be read to its end");
  });
  return array;
}

std::int64_t npy_bytes(const std::vector<std::int64_t>& shape, NpyType type) {
  return static_cast<std::int64_t>(header_of(shape, type).size()) + data_bytes(shape, type);
}

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, NpyType type,
               const void* data) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) throw WriteError(path, npy_bytes(shape, type), errno);
  file << header_of(shape, type);
  file.write(static_cast<const char*>(data), data_bytes(shape, type));
  file.close();  // some file systems know only now
  if (file) return;
  const int code = errno;
  std::remove(path.c_str());
  throw WriteError(path, npy_bytes(shape, type), code);
}

}  // namespace flashbench
