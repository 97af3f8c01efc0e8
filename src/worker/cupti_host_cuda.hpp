// What CUPTI knows of a chip without a GPU at hand: its metrics, how the hardware is set up to
// count them, and what the counts mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/cupti_cuda.hpp"

namespace flashbench {

using CuptiImage = std::vector<std::uint8_t>;  // bytes whose meaning is CUPTI's alone

// All throw Refusal.
class CuptiHost {
 public:
  // `chip`: "GH100". `availability`: which counters the machine has; empty: all of the chip's.
  CuptiHost(const std::string& chip, const CuptiImage& availability);
  ~CuptiHost();
  CuptiHost(const CuptiHost&) = delete;
  CuptiHost& operator=(const CuptiHost&) = delete;

  bool knows(const std::string& metric) const;
  // What a profiler is told in order to count these, all of which it knows. Once in its life.
  CuptiImage configuration(std::vector<const char*>& metrics) const;
  // How often a run has to be repeated until all are counted.
  static std::size_t passes(CuptiImage& configuration);
  std::vector<double> values(const CuptiImage& counted, std::vector<const char*>& metrics) const;

 private:
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace flashbench
