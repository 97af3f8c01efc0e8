// Figures from summaries of samples: speed-ups, utilisation. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/summary.hpp"

namespace flashbench {

// The quotient of two medians with its 95 % interval, from the two intervals by the method of
// variance estimates recovery on the logarithm. A median without an interval stands for both of its
// ends. Null when an end is not a positive number, or the quotient's are none that a double holds.
std::optional<Ratio> ratio(const Time& over, const Time& under);

// What one kernel needs of a resource ("mma", "exp2", "copy"), and the rate measured for it a
// second: 0 where none was. Bytes are those of the traffic with each tensor moved once.
struct FloorTerm {
  std::string resource;
  double amount = 0, rate = 0;
};
// A kernel can be no faster than its slowest resource, `binds`; empty where no rate is known.
struct KernelFloor {
  std::string kernel;
  std::vector<FloorTerm> terms;  // what the kernel needs none of is left out
  std::string binds;
  double seconds = 0;
};
std::vector<KernelFloor> kernel_floors(const Problem&, const Cost&, const std::vector<Ceiling>&);
// Kernels run one after the other: the sum, and the resource that binds most of it.
struct Floor {
  double seconds = 0;
  std::string binds;
};
Floor floor_of(const std::vector<KernelFloor>&);

// Fills what follows from a row's own time: tflops, utilization (peak may be null), drift and its
// flag: more than 5 %, and more than chance would give one row of a thousand.
void derive(Row&, const std::vector<Ceiling>&, const std::optional<double>& peak_tflops);
// speedup of every ok row over the first ok implementation of its problem_key and pass, but of
// another build's row over this build's row of that name; failed rows never take part.
void add_speedups(std::vector<Row>&);

}  // namespace flashbench
