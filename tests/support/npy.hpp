// Reads and writes .npy files (version 1.0, C order, little-endian f2, f4, f8) for tests that make
// tensors by hand. Apart from the tool's own reader on purpose: a mistake made in both would
// otherwise go unseen.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace flashbench::test {

struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> values;

  // Element (i, j, ...) of as many indices as the shape has.
  template <class... Indices>
  double at(Indices... indices) const {
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((offset = offset * shape.at(axis++) + static_cast<std::int64_t>(indices)), ...);
    return values.at(static_cast<std::size_t>(offset));
  }
};

// A (b, s, h, d) tensor from a function of b, s, h and x.
using Element = std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;
inline Array tensor(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t d,
                    const Element& element) {
  Array array{{b, s, h, d}, {}};
  array.values.reserve(static_cast<std::size_t>(b * s * h * d));
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t j = 0; j < s; ++j)
      for (std::int64_t k = 0; k < h; ++k)
        for (std::int64_t x = 0; x < d; ++x) array.values.push_back(element(i, j, k, x));
  return array;
}

inline std::uint16_t to_half(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  if (size < std::ldexp(1.0, -14))
    return sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(size, 24)));
  const int exponent = std::ilogb(size);
  const double mantissa = std::nearbyint(std::ldexp(size, 10 - exponent));  // 1024 ... 2048
  return sign | static_cast<std::uint16_t>(((exponent + 14) << 10) + static_cast<int>(mantissa));
}

inline double from_half(std::uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

// type: "<f2", "<f4" or "<f8".
inline void write_npy(const std::string& path, const Array& array, const std::string& type) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
  for (std::int64_t extent : array.shape) header += std::to_string(extent) + ", ";
  header += "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  text.reserve(text.size() + array.values.size() * static_cast<std::size_t>(type[2] - '0'));
  const auto append = [&text](const auto& number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (double value : array.values) {
    if (type == "<f2")
      append(to_half(value));
    else if (type == "<f4")
      append(static_cast<float>(value));
    else
      append(value);
  }
  std::ofstream(path, std::ios::binary) << text;
}

namespace npy_detail {
template <class Number>
double number_at(const std::string& text, std::size_t offset) {
  Number number;
  if (offset + sizeof number > text.size()) throw std::runtime_error("npy: file ends early");
  std::memcpy(&number, text.data() + offset, sizeof number);
  if constexpr (sizeof number == 2)
    return from_half(number);
  else
    return number;
}
}  // namespace npy_detail

inline Array read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  std::string text(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
  file.seekg(0);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (text.size() < 10 || text.compare(1, 5, "NUMPY") != 0)
    throw std::runtime_error(path + " is no .npy file");
  const std::size_t start = 10 + static_cast<unsigned char>(text[8]) +
                            256 * static_cast<std::size_t>(static_cast<unsigned char>(text[9]));
  const std::string header = text.substr(10, start - 10);
  if (header.find("False") == std::string::npos)
    throw std::runtime_error(path + " is not in C order");
  const std::size_t size = header.find("<f2") != std::string::npos   ? 2
                           : header.find("<f4") != std::string::npos ? 4
                           : header.find("<f8") != std::string::npos
                               ? 8
                               : throw std::runtime_error(path + ": " + header);
  Array array;
  std::size_t count = 1;
  const std::size_t open = header.find('('), close = header.find(')', open);
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t digit = header.find_first_of("0123456789", at);
    if (digit == std::string::npos || digit >= close) break;
    array.shape.push_back(std::stoll(header.substr(digit)));
    count *= static_cast<std::size_t>(array.shape.back());
    at = header.find_first_not_of("0123456789", digit);
  }
  array.values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t offset = start + i * size;
    array.values.push_back(size == 2   ? npy_detail::number_at<std::uint16_t>(text, offset)
                           : size == 4 ? npy_detail::number_at<float>(text, offset)
                                       : npy_detail::number_at<double>(text, offset));
  }
  return array;
}

}  // namespace flashbench::test
