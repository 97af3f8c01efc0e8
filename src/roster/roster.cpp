#include "roster/roster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "device/peaks.hpp"
#include "schedule/client.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;
constexpr double hello_timeout_s = 30;

std::vector<std::string> program_folders() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  return {here.string(), (here.parent_path() / "libexec" / "flashbench").string()};
}

// Empty when none of the folders has it.
std::string find_program(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    if (const std::string path = (fs::path(folder) / name).string();
        access(path.c_str(), X_OK) == 0)
      return path;
  return {};
}

struct Greeting {
  std::optional<WorkerFacts> worker;
  std::string reason;  // without a worker: why
};

Greeting greet(const std::string& name, Backend backend, const std::string& device,
               const std::vector<std::string>& folders) {
  const std::string program = find_program(name, folders);
  if (program.empty())
    return {{}, fmt::format("{} is not in {}", name, fmt::join(folders, " or "))};
  try {
    Client client(program, {});
    Answer answer = client.ask(request::Hello{device}, hello_timeout_s);
    if (answer.kind != Answer::Kind::reply) return {{}, fmt::format("{} {}", name, answer.reason)};
    auto* hello = answer.reply.body ? std::get_if<reply::Hello>(&*answer.reply.body) : nullptr;
    client.leave();
    if (!hello) return {{}, fmt::format("{}: {}", name, answer.reply.reason)};
    if (hello->protocol != protocol_version)
      return {{},
              fmt::format("{} speaks protocol {}, this program {}", name, hello->protocol,
                          protocol_version)};
    if (!hello->device) return {{}, hello->device_reason};
    apply_peak(*hello->device);
    return {WorkerFacts{program, {}, "built-in", backend, std::move(*hello)}, ""};
  } catch (const ProcessError& error) {
    return {{}, error.what()};
  }
}

bool is_ordinal(const std::string& device) {
  return !device.empty() && device.size() < 10 &&
         std::ranges::all_of(device, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

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
    Greeting cuda = greet("flashbench-worker-cuda", Backend::cuda,
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
  Greeting cpu = greet("flashbench-worker-cpu", Backend::cpu, "cpu", folders);
  if (!cpu.worker) throw DeviceError(fmt::format("the CPU cannot be used: {}", cpu.reason));
  roster.workers.push_back(std::move(*cpu.worker));
  return roster;
}

}  // namespace flashbench
