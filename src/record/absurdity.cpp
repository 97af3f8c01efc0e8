#include <fmt/format.h>

#include <cmath>

#include "record/row.hpp"

namespace flashbench {

namespace {

constexpr double most = 1e30;  // a machine that does 1e18 a second needs 30000 years

std::string absurdity_of(const std::string& what, double value) {
  if (std::isfinite(value) && value >= 0 && value <= most) return {};
  return fmt::format("it says that {} {}, which cannot be", what, value);
}

std::string absurdity_of(const Traffic& traffic, const std::string& of) {
  for (const auto& [operands, doing] :
       {std::pair{&traffic.read, "read"}, std::pair{&traffic.written, "written"}})
    for (const auto& [operand, bytes] : *operands)
      if (std::string absurd =
              absurdity_of(fmt::format("the bytes of {} {} {} are", operand, doing, of), bytes);
          !absurd.empty())
        return absurd;
  return {};
}

}  // namespace

std::string absurdity_of(const Cost& cost) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 62;
  if (cost.workspace_bytes < 0 || cost.workspace_bytes > most_bytes)
    return fmt::format("it says that its workspace has {} bytes, which cannot be",
                       cost.workspace_bytes);
  for (const KernelCost& kernel : cost.kernels) {
    const std::string of = fmt::format("by its kernel \"{}\"", kernel.kernel);
    std::string absurd = absurdity_of("the FLOPs done " + of + " are", kernel.flops);
    if (absurd.empty())
      absurd = absurdity_of("the exponentials taken " + of + " are", kernel.exponentials);
    if (absurd.empty()) absurd = absurdity_of(kernel.traffic, of);
    if (!absurd.empty()) return absurd;
  }
  return {};
}

std::string absurdity_of(const Counts& counts) {
  const std::pair<const char*, double> all[] = {
      {"exponentials", counts.exponentials}, {"divisions", counts.divisions},
      {"corrections", counts.corrections},   {"merges", counts.merges},
      {"barriers", counts.barriers},         {"FLOPs", counts.flops}};
  for (const auto& [what, count] : all)
    if (std::string absurd = absurdity_of(fmt::format("the {} it counted are", what), count);
        !absurd.empty())
      return absurd;
  return absurdity_of(counts.traffic, "by its own count");
}

}  // namespace flashbench
