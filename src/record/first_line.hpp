// Files of one figure or word, as /proc and /sys have them.
#pragma once

#include <fstream>
#include <string>

namespace flashbench {

// Empty where there is no such file.
inline std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace flashbench
