#include "cli/common_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "plan/words.hpp"
#include "report/formats.hpp"
#include "report/grid.hpp"
#include "report/report.hpp"
#include "report/views.hpp"

namespace flashbench {

Option file_option(const char* name, const char* help, Options& options, const char* group) {
  return {
      name, "FILE", group, help, false, [&options, name](const std::vector<std::string>& values) {
        if (values[0].empty()) throw UsageError("the file name is empty");
        options.outputs[name] = values[0];
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

Option filter_option(std::string& target, const char* group, const char* what) {
  return {"filter",
          "GLOB",
          group,
          fmt::format("only {} whose key (IMPL/PASS/b1/h16/kv16/q1024/k1024/d128/...,\n"
                      "as in the reports) matches as a whole, or one of whose parts\n"
                      "between slashes does: v1, 'q*', causal, v2/fwd, '*d64/fp16*'",
                      what),
          false,
          [&target](const std::vector<std::string>& values) {
            if (values[0].empty()) throw UsageError("the value is empty");
            target = values[0];
          }};
}

void add_output_options(std::vector<Option>& table, Options& options, bool& wide,
                        const char* group) {
  for (const Format& format : formats())
    table.push_back(file_option(format.name, format.help, options, group));
  table.push_back({"pivot", "AXIS", group, "TFLOPS with this axis across, as in --pivot seq", false,
                   [&options](const auto& values) { options.pivot = values[0]; }});
  table.push_back({"view", "NAME", group,
                   "the table beside the document's figures: " + listed(view_names()) +
                       "\n[what a config or a report names, else rows]",
                   false, [&options](const auto& values) { options.view = values[0]; }});
  table.push_back(flag_option(
      "wide", group, "registers, shared memory, blocks an SM and waves in the table too", wide));
  table.push_back(
      flag_option("explain", group, "each formula of each row with its numbers", options.explain));
}

void check_device_word(const std::string& device, const std::string& called) {
  const bool ordinal = !device.empty() && device.size() < 10 &&
                       device.find_first_not_of("0123456789") == device.npos;
  const std::vector<std::string> words{"auto", "cpu", "cuda"};
  if (ordinal || std::ranges::find(words, device) != words.end()) return;
  throw UsageError(fmt::format("{}: \"{}\" is none of {} or a GPU's ordinal{}", called, device,
                               listed(words), did_you_mean(device, words)));
}

void check_outputs(const Options& options, const std::vector<ReadFile>& read,
                   const std::string& view) {
  if (!options.pivot.empty()) {
    std::vector<std::string> names;
    for (const Axis& axis : axes()) names.push_back(axis.name);
    if (std::ranges::find(names, options.pivot) == names.end())
      throw UsageError(fmt::format("--pivot: \"{}\" is no axis{} (there are: {})", options.pivot,
                                   did_you_mean(options.pivot, names), listed(names)));
  }
  const std::vector<std::string> views = view_names();
  if (!options.view.empty() && std::ranges::find(views, options.view) == views.end())
    throw UsageError(fmt::format("{}: there is no view \"{}\"{} (there are: {})", view,
                                 options.view, did_you_mean(options.view, views), listed(views)));
  check_places(options, read);
  for (const auto& [format, file] : options.outputs) check_writable(file);
  std::error_code error;
  if (!options.dump_dir.empty() && !std::filesystem::create_directories(options.dump_dir, error) &&
      error)
    throw UsageError(fmt::format("--dump: cannot make {}: {}", options.dump_dir, error.message()));
}

}  // namespace flashbench
