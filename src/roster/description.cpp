#include "roster/description.hpp"

#include <fmt/format.h>

#include <limits>

namespace flashbench {

namespace {

// A sum may pass 2^63.
std::int64_t whole_bytes(double bytes) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return bytes >= static_cast<double>(most) ? most : static_cast<std::int64_t>(bytes);
}

}  // namespace

Objection objection_to(const reply::Describe& description) {
  if (description.inputs_bytes < 0 || description.outputs_bytes < 0)
    return {Status::failed,
            fmt::format("it says that its inputs have {} bytes and its outputs {}",
                        description.inputs_bytes, description.outputs_bytes),
            {}};
  if (std::string absurd = absurdity_of(description.cost); !absurd.empty())
    return {Status::failed, std::move(absurd), {}};
  const double sets =
      static_cast<double>(input_sets) * (static_cast<double>(description.inputs_bytes) +
                                         static_cast<double>(description.outputs_bytes));
  const double needed = sets + static_cast<double>(description.cost.workspace_bytes);
  if (!description.room_bytes || needed <= static_cast<double>(*description.room_bytes)) return {};
  return {
      Status::oom,
      fmt::format("two sets of inputs and outputs take {:.0f} bytes of memory and the workspace "
                  "{}; the device has {} in all",
                  sets, description.cost.workspace_bytes, *description.room_bytes),
      whole_bytes(needed)};
}

}  // namespace flashbench
