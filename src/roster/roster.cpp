#include "roster/roster.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/monitor.hpp"
#include "device/peaks.hpp"
#include "roster/greet.hpp"

namespace flashbench {

namespace {

struct Found {
  std::optional<WorkerFacts> worker;
  bool usable = false;  // else it can plan at most
  std::string reason;   // where it is not usable: why
};

Found built_in(const std::string& name, Backend backend, const std::string& device,
               const std::vector<std::string>& folders, double timeout_s) {
  const std::string program = find_program(name, folders);
  if (program.empty()) return {{}, false, why_not_found(name, folders)};
  Greeting greeting = greet(program, program, {}, device, timeout_s);
  if (!greeting.hello) return {{}, false, std::move(greeting.reason)};
  WorkerFacts worker{program, {}, "built-in", backend, std::move(*greeting.hello), ""};
  if (!worker.hello.device) {
    std::string reason = worker.hello.device_reason;
    if (reason.empty()) reason = fmt::format("{} has no device and does not say why", name);
    if (worker.hello.stand_in.empty()) return {{}, false, std::move(reason)};
    return {std::move(worker), false, std::move(reason)};
  }
  complete_from_driver(*worker.hello.device);
  apply_peak(*worker.hello.device);
  return {std::move(worker), true, ""};
}

[[noreturn]] void refuse(const char* what, Found found) {
  DeviceError error(fmt::format("{}: {}", what, found.reason));
  error.planner = std::move(found.worker);
  throw error;
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

Roster call_roster(const std::string& device, double timeout_s) {
  return call_roster(device, program_folders(), timeout_s);
}

Roster call_roster(const std::string& device, const std::vector<std::string>& folders,
                   double timeout_s) {
  if (device != "auto" && device != "cpu" && device != "cuda" && !is_ordinal(device))
    throw DeviceError(
        fmt::format("no device is called \"{}\": auto, cpu, cuda, or a GPU's ordinal", device));
  Roster roster;
  constexpr const char* judge_name = "flashbench-judge";
  roster.judge_program = find_program(judge_name, folders);
  if (roster.judge_program.empty()) roster.judge_absent = why_not_found(judge_name, folders);
  if (device != "cpu") {
    const std::string ordinal = is_ordinal(device) ? device : "0";
    Found cuda = built_in("flashbench-worker-cuda", Backend::cuda, ordinal, folders, timeout_s);
    if (cuda.usable) {
      roster.backend = Backend::cuda;
      if (const std::string judge = find_program("flashbench-judge-cuda", folders);
          !judge.empty()) {
        roster.judge_program = judge;
        roster.judge_arguments = {"--device", ordinal};
      }
      roster.workers.push_back(std::move(*cuda.worker));
      return roster;
    }
    if (device != "auto") refuse("no usable GPU", std::move(cuda));
    roster.notices.push_back(fmt::format("no usable GPU ({}): measuring on the CPU", cuda.reason));
  }
  Found cpu = built_in("flashbench-worker-cpu", Backend::cpu, "cpu", folders, timeout_s);
  if (!cpu.usable) refuse("the CPU cannot be used", std::move(cpu));
  roster.workers.push_back(std::move(*cpu.worker));
  return roster;
}

void require_judge(const Roster& roster) {
  if (roster.judge_program.empty())
    throw DeviceError(fmt::format("outputs cannot be checked: {} (--no-check goes without)",
                                  roster.judge_absent));
}

std::string hello_device(const WorkerFacts& worker) {
  if (worker.backend == Backend::cpu) return "cpu";
  const auto& device = worker.hello.device;
  return std::to_string(device ? device->ordinal.value_or(0) : 0);
}

WorkerLink link_to(const WorkerFacts& worker, double timeout_s) {
  return {{worker.program, worker.arguments, hello_device(worker),
           worker.source == "built-in" ? "" : worker.source, worker.hello.device.has_value()},
          timeout_s};
}

}  // namespace flashbench
