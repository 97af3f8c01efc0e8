#include "support/places.hpp"

namespace flashbench::test {

const char* const bin_folder = FLASHBENCH_BIN;
const char* const fake_worker = FLASHBENCH_FAKE_WORKER;
const char* const fake_nvml = FLASHBENCH_FAKE_NVML;

}  // namespace flashbench::test
