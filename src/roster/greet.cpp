#include "roster/greet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "process/client.hpp"

namespace flashbench {

namespace fs = std::filesystem;

std::vector<std::string> program_folders() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  return {here.string(), (here.parent_path() / "libexec" / "flashbench").string()};
}

namespace {

std::string find(const std::string& name, const std::vector<std::string>& folders, int permission) {
  for (const std::string& folder : folders)
    if (const std::string path = (fs::path(folder) / name).string();
        access(path.c_str(), permission) == 0)
      return path;
  return {};
}

}  // namespace

std::string find_program(const std::string& name, const std::vector<std::string>& folders) {
  return find(name, folders, X_OK);
}

std::string find_library(const std::string& name, const std::vector<std::string>& folders) {
  return find(name, folders, R_OK);  // Debian installs them without the other one
}

std::string why_not_found(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    if (const std::string path = (fs::path(folder) / name).string();
        access(path.c_str(), F_OK) == 0)
      return fmt::format("{} may not be executed", path);
  return fmt::format("{} is not in {}", name, fmt::join(folders, " or "));
}

Greeting greet(const std::string& who, const std::string& program,
               const std::vector<std::string>& arguments, const std::string& device,
               double timeout_s) {
  try {
    Client client(program, arguments);
    Answer answer = client.ask(request::Hello{device}, timeout_s);
    if (answer.kind != Answer::Kind::reply)
      return {{}, fmt::format("{} {} (while starting)", who, answer.reason), answer.left};
    auto* hello = answer.reply.body ? std::get_if<reply::Hello>(&*answer.reply.body) : nullptr;
    client.leave(std::chrono::seconds(2));  // it has done nothing worth waiting for
    if (!hello)
      return {{},
              answer.reply.reason.empty()
                  ? fmt::format("{} gives no answer to hello: it is another program", who)
                  : fmt::format("{}: {}", who, answer.reply.reason)};
    if (hello->protocol != protocol_version)
      return {{},
              fmt::format("{} speaks protocol {}, this program {}", who, hello->protocol,
                          protocol_version)};
    return {std::move(*hello), ""};
  } catch (const ProcessError& error) {
    return {{}, error.what()};
  }
}

}  // namespace flashbench
