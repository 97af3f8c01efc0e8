// What an implementation's description of a row says against running it.
#pragma once

#include <optional>
#include <string>

#include "record/messages.hpp"

namespace flashbench {

struct Objection {
  Status status = Status::ok;  // ok: there is none; else failed or oom
  std::string reason;
  std::optional<std::int64_t> needed_bytes;  // with oom
};

// failed: it holds a figure that cannot be. oom: two sets of inputs and outputs and the workspace
// are more than the device has.
Objection objection_to(const reply::Describe&);

}  // namespace flashbench
