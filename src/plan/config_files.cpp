#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "plan/config.hpp"
#include "plan/words.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;

// Beside an installed program, or in the source tree that this one was built from.
std::vector<fs::path> config_folders() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  return {here.parent_path() / "share" / "flashbench" / "configs", FLASHBENCH_CONFIGS};
}

// No config is longer; /dev/zero never ends.
constexpr std::size_t most_bytes = std::size_t{4} << 20;

std::string read_text(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw UsageError(fmt::format("{}: is a folder", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("{}: cannot be read", path));
  std::string text(most_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most_bytes)
    throw UsageError(
        fmt::format("{}: is no config: these have {} MiB at most", path, most_bytes >> 20));
  return text;
}

}  // namespace

std::vector<std::string> installed_configs() {
  std::vector<std::string> names;
  for (const fs::path& folder : config_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

UserRequest read_config(const std::string& name) {
  if (name.find('/') != name.npos || name.ends_with(".json"))
    return parse_config(read_text(name), name);
  for (const fs::path& folder : config_folders()) {
    const fs::path path = folder / (name + ".json");
    std::error_code error;
    if (fs::exists(path, error)) return parse_config(read_text(path.string()), path.string());
  }
  const std::vector<std::string> names = installed_configs();
  throw UsageError(fmt::format("no config is called \"{}\"{} (there are: {})", name,
                               did_you_mean(name, names), listed(names)));
}

}  // namespace flashbench
