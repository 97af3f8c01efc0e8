#include "record/npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace flashbench {

namespace {

using Shape = std::vector<std::int64_t>;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: {}", path, why));
}

std::ifstream open(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(path, "there is no such file");
  if (!std::filesystem::is_regular_file(status)) refuse(path, "is no plain file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  return file;
}

// The Python dictionary that says type, order and shape; `file` stands at the elements afterwards.
std::string header_of(const std::string& path, std::ifstream& file) {
  std::array<char, 8> start{};
  file.read(start.data(), start.size());
  if (!file || std::string_view(start.data(), 6) != "\x93NUMPY")
    refuse(path, "is no .npy file; write it with numpy.save");
  const int major = static_cast<unsigned char>(start[6]),
            minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    refuse(path, fmt::format("is a .npy file of version {}.{}; versions 1.0, 2.0 and 3.0 are "
                             "understood (numpy.save writes 1.0)",
                             major, minor));
  const int length_bytes = major == 1 ? 2 : 4;
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

// What stands behind `key` in the header, as numpy.save writes it, up to one of `ends`.
std::string value_of(const std::string& path, const std::string& header, const std::string& key,
                     const char* ends) {
  const std::string quoted = "'" + key + "':";
  const std::size_t at = header.find(quoted);
  const std::size_t begin =
      at == header.npos ? at : header.find_first_not_of(' ', at + quoted.size());
  const std::size_t end = begin == header.npos ? begin : header.find_first_of(ends, begin);
  if (end == header.npos) refuse(path, fmt::format("has no {} in its .npy header", key));
  return header.substr(begin, end - begin);
}

NpyType type_in(const std::string& path, const std::string& header) {
  const std::string type = value_of(path, header, "descr", ",}");
  for (const auto& [name, known] :
       {std::pair{"'<f2'", NpyType::f2}, {"'<f4'", NpyType::f4}, {"'<f8'", NpyType::f8}})
    if (type == name) return known;
  const bool big = type.starts_with("'>f");
  refuse(path, fmt::format("holds elements of type {}{}; float16, float32 or float64, little "
                           "endian, would be right: numpy.save(file, x.astype('<f4'))",
                           type, big ? " (big-endian)" : ""));
}

Shape shape_in(const std::string& path, const std::string& header) {
  const std::string tuple = value_of(path, header, "shape", ")") + ")";
  if (!tuple.starts_with('(')) refuse(path, "has a shape in its .npy header that is no tuple");
  Shape shape;
  std::string number;
  for (const char letter : tuple.substr(1)) {
    if (letter == ' ') continue;
    if (letter != ',' && letter != ')') {
      number += letter;
    } else if (!number.empty()) {
      if (number.find_first_not_of("0123456789") != number.npos || number.size() > 18)
        refuse(path, fmt::format("has the shape {} in its .npy header", tuple));
      shape.push_back(std::stoll(number));
      number.clear();
    }
  }
  return shape;
}

void must_be_whole(const std::string& path, const NpyHeader& header) {
  double right = static_cast<double>(header.type);
  for (const std::int64_t extent : header.shape) right *= static_cast<double>(extent);
  const auto present = static_cast<double>(header.bytes);
  if (present == right) return;
  refuse(path, fmt::format("holds {} bytes of elements, {} than the {:.0f} of its shape ({}) and "
                           "type; save it again",
                           header.bytes, present < right ? "fewer" : "more", right,
                           fmt::join(header.shape, ", ")));
}

}  // namespace

NpyHeader read_npy_header(const std::string& path) {
  std::ifstream file = open(path);
  const std::string text = header_of(path, file);
  NpyHeader header;
  header.type = type_in(path, text);
  header.shape = shape_in(path, text);
  const std::string order = value_of(path, text, "fortran_order", ",}");
  if (!order.starts_with("False"))
    refuse(path, order.starts_with("True")
                     ? "is in Fortran order; save numpy.ascontiguousarray(x)"
                     : "has no fortran_order of True or False in its .npy header");
  header.offset = file.tellg();
  file.seekg(0, std::ios::end);
  header.bytes = file.tellg() - std::streamoff{header.offset};
  must_be_whole(path, header);
  return header;
}

}  // namespace flashbench
