// Where the build that the running test was linked in has its files. Not macros: the sanitizers'
// builds link tests that another build compiled.
#pragma once

#include <string>

namespace flashbench::test {

extern const char* const bin_folder;   // the folder of the programs and libraries
extern const char* const fake_worker;  // schedule/fake_worker.cpp, a program
extern const char* const fake_nvml;    // device/fake_nvml.cpp, a library

inline std::string in_bin(const std::string& file) {
  return std::string(bin_folder) + "/" + file;
}

}  // namespace flashbench::test
