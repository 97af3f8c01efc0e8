#include <fmt/format.h>

#include "cli/columns.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/interruptible.hpp"
#include "cli/parser.hpp"
#include "compare/exit_code.hpp"
#include "device/peaks.hpp"
#include "process/interrupt.hpp"
#include "schedule/ceilings.hpp"
#include "version.hpp"

namespace flashbench {

namespace {

using Lines = std::vector<std::vector<std::string>>;

template <class Number>
void add(Lines& lines, const char* what, const std::optional<Number>& value, double unit,
         const char* unit_name) {
  if (value)
    lines.push_back(
        {what, fmt::format("{:.6g} {}", static_cast<double>(*value) / unit, unit_name)});
}

void add(Lines& lines, const char* what, const std::string& value) {
  if (!value.empty()) lines.push_back({what, value});
}

Lines lines_of(const DeviceFacts& facts) {
  constexpr double mebi = 1048576, gibi = 1073741824;
  Lines lines;
  add(lines, "  name", facts.name);
  add(lines, "  uuid", facts.uuid);
  add(lines, "  pci", facts.pci);
  add(lines, "  driver", facts.driver);
  add(lines, "  cuda", facts.cuda);
  const bool cpu = facts.backend == Backend::cpu;
  add(lines, cpu ? "  threads" : "  multiprocessors", facts.multiprocessors, 1, "");
  if (facts.compute_capability && !cpu)
    lines.push_back({"  compute capability", fmt::format("{}.{}", *facts.compute_capability / 10,
                                                         *facts.compute_capability % 10)});
  add(lines, "  memory", facts.memory_bytes, gibi, "GiB");
  add(lines, "  L2 cache", facts.l2_bytes, mebi, "MiB");
  add(lines, "  shared memory a block", facts.shared_bytes_per_block, 1024, "KiB");
  add(lines, "  clock", facts.clock_mhz, 1, "MHz");
  add(lines, "  memory clock", facts.memory_clock_mhz, 1, "MHz");
  add(lines, "  power limit", facts.power_limit_w, 1, "W");
  add(lines, "  datasheet peak", facts.peak_tflops, 1, "TFLOPS, 16 bit, dense");
  add(lines, "  datasheet bandwidth", facts.peak_gbps, 1, "GB/s");
  add(lines, "  source of the peak", facts.peak_source);
  return lines;
}

std::string rate_of(const Ceiling& ceiling) {
  if (ceiling.name == "copy") return fmt::format("{:.4g} GB/s", ceiling.rate / 1e9);
  if (ceiling.name == "exp2") return fmt::format("{:.4g} Gexp/s", ceiling.rate / 1e9);
  return fmt::format("{:.4g} TFLOPS", ceiling.rate / 1e12);
}

void print_device(const char* title, const Roster& roster) {
  constexpr double ms_each = 200;
  Lines lines;
  if (const auto& facts = roster.workers.front().hello.device) lines = lines_of(*facts);
  for (const Ceiling& ceiling : measure_ceilings(roster, ms_each))
    lines.push_back({"  measured " + ceiling.name, rate_of(ceiling)});
  fmt::print("{}\n{}", title, in_columns(lines));
}

void print_if_usable(const char* title, const char* device) try {
  print_device(title, call_roster(device));
} catch (const DeviceError& error) {
  if (!interrupted()) fmt::print("{}\n  {}\n", title, error.what());
}

// Empty: both.
int print_devices(const std::string& device) {
  fmt::print("flashbench {} ({}; {})\n", tool_version, tool_commit, tool_build);
  if (!device.empty()) {
    const Roster roster = call_roster(device);
    print_device(roster.backend == Backend::cuda ? "GPU" : "CPU", roster);
  } else {
    print_if_usable("CPU", "cpu");
    print_if_usable("GPU", "cuda");
  }
  if (!interrupted()) return exit_code::ok;
  print_error("flashbench: interrupted before every ceiling was measured\n");
  return exit_code::interrupted;
}

Command command_of(std::string& device) {
  Option option = device_option(device, "Options");
  option.help = "auto, cpu, cuda, or a GPU's ordinal [the CPU and the GPU]";
  return {"info",
          "flashbench info [--device D]",
          "Shows the CPU and the GPU: what they are, their datasheet peaks, and the ceilings that\n"
          "they reach when measured now (about a second a device).",
          "",
          "",
          0,
          0,
          {std::move(option)}};
}

}  // namespace

std::string info_help() {
  std::string unused;
  return help_of(command_of(unused));
}

int info_command(const Arguments& arguments) {
  std::string device;
  parse_arguments(command_of(device), arguments);
  if (!device.empty()) check_device_word(device);
  return interruptible([&] { return print_devices(device); });
}

}  // namespace flashbench
