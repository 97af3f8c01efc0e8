// The devices that the fake driver library shows while this lives. The lines: see fake_nvml.cpp.
#pragma once

#include <cstdlib>
#include <string>

#include "support/places.hpp"

namespace flashbench::test {

class FakeNvml {
 public:
  explicit FakeNvml(const std::string& lines, const char* library = fake_nvml) {
    setenv("FLASHBENCH_NVML", library, 1);
    setenv("FAKE_NVML", lines.c_str(), 1);
  }
  ~FakeNvml() {
    unsetenv("FLASHBENCH_NVML");
    unsetenv("FAKE_NVML");
  }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;
};

}  // namespace flashbench::test
