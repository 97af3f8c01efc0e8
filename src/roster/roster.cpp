#include "roster/roster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "device/monitor.hpp"
#include "device/peaks.hpp"
#include "roster/greet.hpp"

namespace flashbench {

namespace {

constexpr double hello_timeout_s = 30;

struct Found {
  std::optional<WorkerFacts> worker;
  std::string reason;  // without a worker: why
};

Found built_in(const std::string& name, Backend backend, const std::string& device,
               const std::vector<std::string>& folders) {
  const std::string program = find_program(name, folders);
  if (program.empty())
    return {{}, fmt::format("{} is not in {}", name, fmt::join(folders, " or "))};
  Greeting greeting = greet(name, program, {}, device, hello_timeout_s);
  if (!greeting.hello) return {{}, std::move(greeting.reason)};
  if (!greeting.hello->device) return {{}, greeting.hello->device_reason};
  complete_from_driver(*greeting.hello->device);
  apply_peak(*greeting.hello->device);
  return {WorkerFacts{program, {}, "built-in", backend, std::move(*greeting.hello), ""}, ""};
}

bool is_ordinal(const std::string& device) {
  return !device.empty() && device.size() < 10 &&
         std::ranges::all_of(device, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string gpu_uuid(const Roster& roster) {
  if (roster.backend != Backend::cuda || roster.workers.empty()) return {};
  const auto& device = roster.workers.front().hello.device;
  return device ? device->uuid : "";
}

Roster call_roster(const std::string& device) {
  return call_roster(device, program_folders());
}

Roster call_roster(const std::string& device, const std::vector<std::string>& folders) {
  if (device != "auto" && device != "cpu" && device != "cuda" && !is_ordinal(device))
    throw DeviceError(
        fmt::format("no device is called \"{}\": auto, cpu, cuda, or a GPU's ordinal", device));
  Roster roster;
  roster.judge_program = find_program("flashbench-judge", folders);
  if (device != "cpu") {
    Found cuda = built_in("flashbench-worker-cuda", Backend::cuda,
                          is_ordinal(device) ? device : std::string("0"), folders);
    if (cuda.worker) {
      roster.backend = Backend::cuda;
      if (const std::string judge = find_program("flashbench-judge-cuda", folders);
          !judge.empty()) {
        roster.judge_program = judge;
        roster.judge_arguments = {"--device", is_ordinal(device) ? device : std::string("0")};
      }
      roster.workers.push_back(std::move(*cuda.worker));
      return roster;
    }
    if (device != "auto") throw DeviceError(fmt::format("no usable GPU: {}", cuda.reason));
    roster.notices.push_back(fmt::format("no usable GPU ({}): measuring on the CPU", cuda.reason));
  }
  Found cpu = built_in("flashbench-worker-cpu", Backend::cpu, "cpu", folders);
  if (!cpu.worker) throw DeviceError(fmt::format("the CPU cannot be used: {}", cpu.reason));
  roster.workers.push_back(std::move(*cpu.worker));
  return roster;
}

}  // namespace flashbench
