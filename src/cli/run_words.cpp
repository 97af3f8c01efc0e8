#include "cli/run_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/contradictions.hpp"
#include "cli/parser.hpp"
#include "plan/axes.hpp"
#include "plan/config.hpp"
#include "plan/loaded.hpp"
#include "plan/values.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

using Values = std::vector<std::string>;

constexpr const char *axes_group = "Axes of a sweep",
                     *inputs_group = "Inputs and outputs of the implementations",
                     *measuring_group = "Measuring and checking", *running_group = "Running",
                     *output_group = "Output";

// An axis given as a flag replaces that axis in every sweep of the config.
Option axis_option(RunWords& words, const SweepAxis& axis) {
  return {std::string(axis.name),
          std::string(axis.value),
          axes_group,
          std::string(axis.help),
          true,
          [&words, &axis](const Values& values) {
            for (Sweep& sweep : words.request.sweeps) {
              axis.clear(sweep);
              sweep.flags.emplace(axis.name);
              for (const std::string& value : values) axis.add(sweep, value);
            }
          }};
}

Option mask_flag(RunWords& words, const char* name, Mask mask) {
  return {name,
          "",
          axes_group,
          fmt::format("the same as --mask {}", flashbench::name(mask)),
          false,
          [&words, mask](const Values&) {
            for (Sweep& sweep : words.request.sweeps) {
              sweep.mask = {mask};
              sweep.flags.emplace("mask");
            }
          }};
}

Option setting_option(RunWords& words, const Setting& setting) {
  const bool flag = setting.type == ValueType::flag;
  const char* group =
      setting.name == "seed" ? inputs_group
      : setting.name == "timeout" || setting.name == "strict" || setting.name == "threshold"
          ? running_group
          : measuring_group;
  return {std::string(setting.name),
          std::string(setting.value),
          group,
          std::string(setting.help),
          flag,
          [&words, &setting, flag](const Values& values) {
            Options& options = words.request.options;
            // A flag of the rounds' stop rule overrides a config's exact count.
            if (setting.name == "samples" || setting.name == "time-budget" ||
                setting.name == "precision")
              options.iters.reset();
            setting.set(options, flag ? "true" : values[0]);
          }};
}

Option text_option(const char* name, const char* value, const char* group, const char* help,
                   std::string& target) {
  return {name, value, group, help, false, [&target](const Values& values) {
            if (values[0].empty()) throw UsageError("the value is empty");
            target = values[0];
          }};
}

Option files_option(const char* name, const char* value, const char* help, Values& target) {
  return {name, value, running_group, help, true, [&target](const Values& values) {
            if (std::ranges::find(values, "") != values.end())
              throw UsageError("the value is empty");
            target = values;
          }};
}

Option label_option(std::string& target) {
  Option option = text_option("label", "TEXT", output_group, "goes into the report", target);
  option.apply = [apply = std::move(option.apply)](const Values& values) {
    if (!is_utf8(values[0])) throw UsageError("the text is not UTF-8; write it in UTF-8");
    apply(values);
  };
  return option;
}

void add_running(std::vector<Option>& table, RunWords& words) {
  Options& o = words.request.options;
  table.push_back(device_option(o.device, running_group));
  table.push_back(text_option("baseline", "FILE", running_group,
                              "a saved report to compare this run with", o.baseline_file));
  table.push_back(flag_option("allow-different", running_group,
                              "compare even across devices and inputs", o.allow_different));
  table.push_back(filter_option(o.filter, running_group, "cases"));
  table.push_back(flag_option("dry-run", running_group,
                              "show the cases, their FLOPs, bytes, memory and time; needs no GPU",
                              o.dry_run));
  table.push_back(
      text_option("resume", "FILE", running_group,
                  "take finished rows from an earlier report of this device and build;\n"
                  "without --json the result goes back to FILE, whose other rows stay in it",
                  o.resume_file));
  table.push_back(files_option("against", "[LABEL=]PREFIX",
                               "another build's install or build folder: its implementations join\n"
                               "the same rounds and are compared with this build's; repeatable",
                               o.against));
  table.push_back(files_option("plugin", "FILE",
                               "more implementations: a shared library, or a Python file for\n"
                               "python3; repeatable",
                               o.plugins));
  table.push_back(flag_option("profile", running_group,
                              "run each row once, untimed and unchecked, for ncu, nsys or\n"
                              "compute-sanitizer with --target-processes all; --timeout is then "
                              "[3600]",
                              o.profile));
  table.push_back(flag_option("counters", running_group,
                              "read the GPU's hardware counters when all is timed: bytes from L2\n"
                              "and DRAM, tensor pipes, shared memory; beside formulas and counts",
                              o.counters));
}

// A pass by itself: whatever the profiler makes of its time, it is waited for.
void prepare_to_profile(RunWords& words) {
  constexpr double longest_s = 3600;
  Options& options = words.request.options;
  options.check = Check::none;
  if (!words.given.contains("timeout")) options.timeout_s = longest_s;
}

// What the user calls an option that a config may hold at its top.
std::string called(const RunWords& words, const std::string& option) {
  if (words.config.empty() || words.given.contains(option)) return "--" + option;
  return fmt::format("{}: $.{}", words.config, option);
}

std::vector<ReadFile> read_files(const RunWords& words) {
  std::error_code error;
  if (!std::filesystem::exists(words.config, error)) return {};  // an installed config's name
  return {{"--config", words.config}};
}

// What a config may have said that --iters overrides; a row's command must not repeat it.
void forget_stop_rule(Options& options) {
  const Options defaults;
  options.min_samples = defaults.min_samples;
  options.time_budget_s = defaults.time_budget_s;
  options.precision = defaults.precision;
}

// They write into `words`, which must outlive them.
std::vector<Option> run_options(RunWords& words) {
  Options& o = words.request.options;
  std::vector<Option> table;
  table.push_back(
      {"config", "FILE|NAME", axes_group,
       "sweeps and settings from a file, or an installed config by name; flags override\n"
       "it [there are: " +
           listed(installed_configs()) + "]",
       false, [&words](const Values& values) {
         UserRequest read = read_config(values[0]);
         words.config = values[0];
         words.request.sweeps = std::move(read.sweeps);
         words.request.options = std::move(read.options);
       }});
  for (const SweepAxis& axis : sweep_axes()) {
    table.push_back(axis_option(words, axis));
    if (axis.name != "mask") continue;
    table.push_back(mask_flag(words, "causal", Mask::causal));
    table.push_back(mask_flag(words, "no-causal", Mask::full));
  }
  table.push_back(
      text_option("load", "DIR", inputs_group,
                  "Q, K, V, dO from q.npy, k.npy, v.npy, do.npy, each (b, s, h, d); dtype,\n"
                  "mask, scale, layout from a case.json of --dump where no option names them",
                  o.load_dir));
  table.push_back(text_option("dump", "DIR", inputs_group,
                              "write inputs and outputs as .npy, a folder a row", o.dump_dir));
  for (const Setting& setting : settings()) table.push_back(setting_option(words, setting));
  add_running(table, words);
  table.push_back(label_option(o.label));
  add_output_options(table, o, words.wide, output_group);
  for (Option& option : table) {
    auto apply = std::move(option.apply);
    option.apply = [&words, name = option.name, apply = std::move(apply)](const Values& values) {
      words.given.insert(name);
      apply(values);
    };
  }
  return table;
}

Command command_of(RunWords& words) {
  return {"run",
          "flashbench [run] [OPTIONS]",
          "Runs attention implementations on a sweep of problems: checks every output against a\n"
          "high-precision reference, then times all of them in interleaved rounds, and reports.\n"
          "\n"
          "Commands (flashbench COMMAND --help)\n"
          "  run                   the default: sweep, check, time, report\n"
          "  compare BASE NEW      pair two reports, judge each pair, exit by the verdict\n"
          "  report FILE...        render saved reports again\n"
          "  info                  this machine: devices, peaks, measured ceilings\n"
          "  list                  implementations, and what each supports here\n"
          "  doctor                how small a difference this machine can resolve today\n"
          "  selftest              plant known faults, show that each is caught\n"
          "  claims                each claim of the source document: holds here or not\n"
          "  --version             version, commit and build\n"
          "\n"
          "Every axis takes a value, a comma list, or an inclusive range: 512:16k:*2,\n"
          "1024:4096:+512; integers may end in k (x1024) or m (x1048576). [ ] holds the default.",
          "  flashbench\n"
          "  flashbench --seq 512:16k:*2 --mask full,causal --head-dim 64,128\n"
          "  flashbench --impl naive,v2 --pass fwd,bwd --seq 2k --json r.json\n"
          "  flashbench --config document-throughput --dry-run\n"
          "\n"
          "Exit code: 0 all well, 1 a row failed, 2 wrong words or files, 3 the device cannot be\n"
          "used, 4 nothing was measured, 5 slower than the baseline, 6 not comparable, 130\n"
          "interrupted.\n",
          "",
          0,
          0,
          run_options(words)};
}

}  // namespace

std::string run_help() {
  RunWords unused;
  return help_of(command_of(unused));
}

RunWords read_run_words(const std::vector<std::string>& arguments) {
  RunWords words;
  words.request.sweeps.emplace_back();
  parse_arguments(command_of(words), arguments);
  words.request.argv = {"flashbench", "run"};
  words.request.argv.insert(words.request.argv.end(), arguments.begin(), arguments.end());
  refuse_contradictions(words);
  Options& options = words.request.options;
  if (options.iters) forget_stop_rule(options);
  if (options.profile) prepare_to_profile(words);
  check_device_word(options.device, called(words, "device"));
  if (!options.resume_file.empty() && !options.dry_run)
    options.outputs.try_emplace("json", options.resume_file);
  if (options.dry_run && are_one_file(options.output("json"), options.resume_file))
    throw UsageError(
        fmt::format("--json and --resume are both {}: a dry run would write over the "
                    "rows that it holds",
                    options.resume_file));
  check_outputs(options, read_files(words), called(words, "view"));
  if (!options.load_dir.empty())
    words.request.loaded = read_loaded(options.load_dir, words.request.sweeps);
  return words;
}

}  // namespace flashbench
