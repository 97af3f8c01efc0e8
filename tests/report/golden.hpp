// Files that hold what a renderer must give. FLASHBENCH_UPDATE_GOLDEN=1 writes them anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace flashbench::testing {

inline std::string corpus(const std::string& file) {
  return std::string(FLASHBENCH_SOURCE) + "/tests/corpus/" + file;
}

inline std::string content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << path;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void expect_golden(const std::string& file, const std::string& text) {
  if (std::getenv("FLASHBENCH_UPDATE_GOLDEN"))
    std::ofstream(corpus(file), std::ios::binary) << text;
  EXPECT_EQ(content(corpus(file)), text) << file;
}

}  // namespace flashbench::testing
