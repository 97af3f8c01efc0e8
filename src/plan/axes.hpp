// The axes of a sweep and the settings of a measurement by name: one table each, which the command
// line and the config reader share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/request.hpp"

namespace flashbench {

enum class ValueType { integer, number, word, flag };

struct SweepAxis {
  std::string_view name;  // as an option without its dashes, and as a config key
  std::string_view value;
  std::string_view help;
  ValueType type;
  // Adds what `text` (a value, a list or a range) says. Throws UsageError.
  void (*add)(Sweep&, std::string_view text);
  void (*clear)(Sweep&);
};
const std::vector<SweepAxis>& sweep_axes();

struct Setting {
  std::string_view name;
  std::string_view value;
  std::string_view help;
  ValueType type;
  // A flag is given "true" or "false". Throws UsageError.
  void (*set)(Options&, std::string_view text);
};
const std::vector<Setting>& settings();

// Two settings that cannot hold together: a flag counts where it is true.
struct Contradiction {
  std::string_view one, other, why;
};
const std::vector<Contradiction>& contradictions();

}  // namespace flashbench
