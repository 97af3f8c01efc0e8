#include "cli/common_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "plan/words.hpp"
#include "report/grid.hpp"
#include "report/report.hpp"

namespace flashbench {

Option file_option(const char* name, const char* help, std::string& target, const char* group) {
  return {name, "FILE", group, help, false, [&target](const std::vector<std::string>& values) {
            if (values[0].empty()) throw UsageError("the file name is empty");
            target = values[0];
          }};
}

Option flag_option(const char* name, const char* group, const char* help, bool& target) {
  return {name, "", group, help, true, [&target](const auto&) { target = true; }};
}

Option device_option(std::string& target, const char* group) {
  return {"device", "D",
          group,    "auto, cpu, cuda, or a GPU's ordinal [auto: the GPU if there is one]",
          false,    [&target](const std::vector<std::string>& values) { target = values[0]; }};
}

void add_output_options(std::vector<Option>& table, Options& options, bool& wide,
                        const char* group) {
  table.push_back(file_option("json", "the whole report; - is stdout, and then nothing else is",
                              options.json_file, group));
  table.push_back(file_option("csv", "a line a row; likewise", options.csv_file, group));
  table.push_back(file_option("md", "a Markdown table; likewise", options.md_file, group));
  table.push_back(file_option("junit", "for CI; likewise", options.junit_file, group));
  table.push_back({"pivot", "AXIS", group, "TFLOPS with this axis across, as in --pivot seq", false,
                   [&options](const auto& values) { options.pivot = values[0]; }});
  table.push_back(flag_option(
      "wide", group, "registers, shared memory, blocks an SM and waves in the table too", wide));
}

void check_device_word(const std::string& device) {
  const bool ordinal = !device.empty() && device.size() < 10 &&
                       device.find_first_not_of("0123456789") == device.npos;
  const std::vector<std::string> words{"auto", "cpu", "cuda"};
  if (ordinal || std::ranges::find(words, device) != words.end()) return;
  throw UsageError(fmt::format("--device: \"{}\" is none of {} or a GPU's ordinal{}", device,
                               listed(words), did_you_mean(device, words)));
}

void check_outputs(const Options& options) {
  std::set<std::string> places;
  for (const std::string& file :
       {options.json_file, options.csv_file, options.md_file, options.junit_file}) {
    if (file.empty()) continue;
    if (!places.insert(file).second)
      throw UsageError(fmt::format("two outputs go to {}",
                                   file == "-" ? "stdout: only one may be \"-\"" : file));
  }
  if (!options.pivot.empty()) {
    std::vector<std::string> names;
    for (const Axis& axis : axes()) names.push_back(axis.name);
    if (std::ranges::find(names, options.pivot) == names.end())
      throw UsageError(fmt::format("--pivot: \"{}\" is no axis{} (there are: {})", options.pivot,
                                   did_you_mean(options.pivot, names), listed(names)));
  }
  for (const std::string& file : places) check_writable(file);
  std::error_code error;
  if (!options.dump_dir.empty() && !std::filesystem::create_directories(options.dump_dir, error) &&
      error)
    throw UsageError(fmt::format("--dump: cannot make {}: {}", options.dump_dir, error.message()));
}

}  // namespace flashbench
