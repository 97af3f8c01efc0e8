#include "plan/npy_shape.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "plan/values.hpp"

namespace flashbench {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw UsageError(fmt::format("{}: {}", path, why));
}

// The Python dictionary that says dtype, order and shape.
std::string header_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  std::array<char, 8> start{};
  file.read(start.data(), start.size());
  if (!file || std::string_view(start.data(), 6) != "\x93NUMPY") refuse(path, "is no .npy file");
  const int length_bytes = start[6] == 1 ? 2 : 4;
  std::size_t length = 0;
  for (int i = 0; i < length_bytes; ++i)
    length |= static_cast<std::size_t>(file.get() & 0xff) << (8 * i);
  constexpr std::size_t longest_header = 1 << 20;
  if (!file || length > longest_header) refuse(path, "has a broken .npy header");
  std::string header(length, ' ');
  file.read(header.data(), static_cast<std::streamsize>(length));
  if (!file) refuse(path, "ends within its .npy header");
  return header;
}

}  // namespace

std::vector<std::int64_t> npy_shape(const std::string& path) {
  const std::string header = header_of(path);
  if (header.find("'fortran_order': True") != header.npos)
    refuse(path, "is in Fortran order; save numpy.ascontiguousarray(x)");
  const std::size_t name = header.find("'shape'");
  const std::size_t open = header.find('(', name), close = header.find(')', open);
  if (name == header.npos || close == header.npos) refuse(path, "has no shape in its .npy header");
  std::vector<std::int64_t> shape;
  std::string number;
  for (const char letter : header.substr(open + 1, close - open)) {
    if (letter == ' ') continue;
    if (letter != ',' && letter != ')') {
      number += letter;
    } else if (!number.empty()) {
      shape.push_back(parse_integer(number, 0));
      number.clear();
    }
  }
  return shape;
}

}  // namespace flashbench
