// Config files: JSON with comments, read strictly. A mistake is a UsageError that names the file,
// and the JSON path (or line and column) of every mistake in it.
#pragma once

#include <string>
#include <vector>

#include "plan/request.hpp"

namespace flashbench {

// Fills sweeps and those options that the config names. `file` is for messages.
UserRequest parse_config(const std::string& text, const std::string& file);
// The same from a file, or from an installed config when `name` is no path.
UserRequest read_config(const std::string& name);
// Names of the installed configs, sorted.
std::vector<std::string> installed_configs();

// The keys that the reader knows, for the test that holds it and the schema together.
struct ConfigKeys {
  std::vector<std::string> top, measurement, sweep;
};
ConfigKeys config_keys();

}  // namespace flashbench
