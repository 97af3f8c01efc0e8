// A .npy file of any header, also of one that must be refused.
#pragma once

#include <cstddef>
#include <string>

#include "support/temporary_folder.hpp"

namespace flashbench::test {

// As numpy.save writes it; `extra` bytes more (or fewer) than the elements need.
struct NpyFile {
  std::string shape, type = "<f4", order = "False";
  char version = 1;
  int extra = 0;
};

inline std::size_t elements_of(const std::string& shape) {
  std::size_t count = 1;
  for (std::size_t at = 0; (at = shape.find_first_of("0123456789", at)) != shape.npos;
       at = shape.find_first_not_of("0123456789", at))
    count *= std::stoul(shape.substr(at));
  return count;
}

inline void write_npy(const TemporaryFolder& folder, const std::string& name, const NpyFile& file) {
  const std::string header = "{'descr': '" + file.type + "', 'fortran_order': " + file.order +
                             ", 'shape': " + file.shape + ", }\n";
  std::string text = "\x93NUMPY";
  text += file.version;
  text += '\0';
  text += static_cast<char>(header.size());
  text.append(file.version == 1 ? 1 : 3, '\0');
  const std::size_t bytes = elements_of(file.shape) * (file.type[2] - '0') + file.extra;
  folder.write(name, text + header + std::string(bytes, 'x'));
}

}  // namespace flashbench::test
