#include "worker/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "worker/dtype.hpp"

namespace flashbench {

namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view magic{"\x93NUMPY", 6};

[[noreturn]] void fail(const std::string& path, const std::string& cause) {
  throw std::runtime_error(fmt::format("{}: {}", path, cause));
}

std::int64_t size_of(NpyType type) {
  return type == NpyType::f2 ? 2 : type == NpyType::f4 ? 4 : 8;
}

// What follows `key` in the header's dictionary.
std::string_view after(const std::string& path, std::string_view header, std::string_view key) {
  const auto at = header.find(key);
  if (at == std::string_view::npos) fail(path, fmt::format("the .npy header has no {}", key));
  header.remove_prefix(at + key.size());
  header.remove_prefix(std::min(header.find_first_not_of(": "), header.size()));
  return header;
}

NpyType type_in(const std::string& path, std::string_view header) {
  const std::string_view text = after(path, header, "'descr'");
  for (const auto& [word, type] : {std::pair{"'<f2'", NpyType::f2}, std::pair{"'<f4'", NpyType::f4},
                                   std::pair{"'<f8'", NpyType::f8}})
    if (text.starts_with(word)) return type;
  fail(path, fmt::format("elements must be float16, float32 or float64 (little endian), not {}",
                         text.substr(0, text.find(','))));
}

std::vector<std::int64_t> shape_in(const std::string& path, std::string_view header) {
  std::string_view text = after(path, header, "'shape'");
  const auto end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos)
    fail(path, "the .npy header's shape is not a tuple");
  text = text.substr(1, end - 1);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) fail(path, "the .npy header's shape is not of numbers");
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
  return shape;
}

std::string read_header(const std::string& path, std::ifstream& file) {
  unsigned char start[10] = {};
  file.read(reinterpret_cast<char*>(start), sizeof start);
  if (!file || std::memcmp(start, magic.data(), magic.size()) != 0)
    fail(path, "not a .npy file (it does not start with \\x93NUMPY)");
  std::size_t length = start[8] | static_cast<std::size_t>(start[9]) << 8;
  if (start[6] != 1) {
    unsigned char more[2] = {};
    file.read(reinterpret_cast<char*>(more), sizeof more);
    length |= static_cast<std::size_t>(more[0]) << 16;
    if (more[1] != 0) fail(path, "the .npy header is longer than 16 MiB");
  }
  std::string header(length, ' ');
  file.read(header.data(), static_cast<std::streamsize>(length));
  if (!file) fail(path, "ends within the .npy header");
  return header;
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
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, fmt::format("cannot be read ({})", std::strerror(errno)));
  const std::string header = read_header(path, file);
  NpyArray array;
  array.type = type_in(path, header);
  array.shape = shape_in(path, header);
  if (after(path, header, "'fortran_order'").starts_with("True"))
    fail(path, "is in Fortran order; save it in C order (numpy.ascontiguousarray)");
  std::int64_t room = std::numeric_limits<std::int64_t>::max() / 8;
  for (const std::int64_t extent : array.shape) room /= std::max<std::int64_t>(extent, 1);
  if (room == 0) fail(path, "the .npy header's shape is too large");
  const std::int64_t bytes = array.elements() * size_of(array.type);
  const auto start = file.tellg();
  file.seekg(0, std::ios::end);
  const std::int64_t present = file.tellg() - start;
  if (present != bytes)
    fail(path, fmt::format("holds {} bytes of elements where its shape ({}) needs {}", present,
                           fmt::join(array.shape, ", "), bytes));
  file.seekg(start);
  array.data.resize(static_cast<std::size_t>(bytes));
  file.read(reinterpret_cast<char*>(array.data.data()), static_cast<std::streamsize>(bytes));
  if (!file) fail(path, "could not be read to its end");
  return array;
}

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, NpyType type,
               const void* data) {
  std::int64_t bytes = size_of(type);
  for (const std::int64_t extent : shape) bytes *= extent;
  std::string header =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}{}), }}", size_of(type),
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  header.append(63 - (magic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) fail(path, fmt::format("cannot be written ({})", std::strerror(errno)));
  file << magic << '\1' << '\0' << static_cast<char>(header.size() & 0xff)
       << static_cast<char>(header.size() >> 8) << header;
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  file.flush();
  if (!file) fail(path, fmt::format("could not be written to its end ({})", std::strerror(errno)));
}

}  // namespace flashbench
