#include "roster/guests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "device/monitor.hpp"
#include "device/peaks.hpp"
#include "roster/greet.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;
constexpr const char* peers_source = "plugin:pytorch.py";

struct Program {
  std::string path;
  std::vector<std::string> arguments;
  std::string omits = {};  // what one that ends at once has left out, a sentence about it
};

[[noreturn]] void refuse(const std::string& guest, const std::string& reason,
                         bool incomparable = false) {
  throw GuestError(fmt::format("{}: {}", guest, reason), incomparable);
}

// The folder `name` of plugins/: beside an installed program, or in the source tree.
fs::path plugins_folder(const std::string& name) {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = here.parent_path() / "share" / "flashbench" / "plugins" / name;
  return fs::exists(installed, error) ? installed : fs::path(FLASHBENCH_PLUGINS) / name;
}

// Empty when there is none in PATH.
std::string python() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  std::vector<std::string> list;
  for (std::string folder; std::getline(folders, folder, ':');) list.push_back(folder);
  return find_program("python3", list);
}

std::string library_name(Backend backend) {
  return fmt::format("libflashbench-worker-{}.so", name(backend));
}

// Throws std::runtime_error.
std::string needed(const std::string& name) {
  const std::vector<std::string> folders = program_folders();
  const std::string path =
      name.ends_with(".so") ? find_library(name, folders) : find_program(name, folders);
  if (path.empty())
    throw std::runtime_error(fmt::format("{} is not in {}", name, fmt::join(folders, " or ")));
  return path;
}

// As flashbench_plugin.py expects it; env puts that module within reach. Throws std::runtime_error.
Program python_program(const std::string& file, Backend backend) {
  const std::string interpreter = python();
  if (interpreter.empty()) throw std::runtime_error("python3 is not in PATH");
  std::string modules = plugins_folder("python");
  if (const char* more = std::getenv("PYTHONPATH"); more && *more)
    modules += fmt::format(":{}", more);
  return {"/usr/bin/env",
          {"PYTHONPATH=" + modules, interpreter, "-B", file, "--library",
           needed(library_name(backend)), "--backend", std::string(name(backend))},
          fmt::format("it registered no implementation: a plugin in Python ends with "
                      "flashbench_plugin.serve([...]), as {} does",
                      (plugins_folder("example") / "attention.py").string())};
}

Program program_of(const std::string& file, Backend backend) {
  if (file.ends_with(".py")) return python_program(file, backend);
  return {needed("flashbench-worker-plugin"), {file}};
}

// Two implementations of one name would be one row.
std::string repeated_name(const reply::Hello& hello) {
  std::vector<std::string> names;
  for (const ImplementationFacts& facts : hello.implementations) {
    if (std::ranges::find(names, facts.name) != names.end()) return facts.name;
    names.push_back(facts.name);
  }
  return {};
}

WorkerFacts guest(const Roster& roster, const std::string& given, const Program& program,
                  std::string source, double timeout_s) {
  for (const WorkerFacts& other : roster.workers)
    if (other.source == source) refuse(given, fmt::format("there is another {} already", source));
  const WorkerFacts& host = roster.workers.front();
  Greeting greeting =
      greet("its worker", program.path, program.arguments, hello_device(host), timeout_s);
  if (!greeting.hello && greeting.left && !program.omits.empty())
    refuse(given, fmt::format("{}; {}", program.omits, greeting.reason));
  if (!greeting.hello) refuse(given, greeting.reason);
  reply::Hello& hello = *greeting.hello;
  if (!hello.device)
    refuse(given, hello.device_reason.empty() ? "it has no device and does not say why"
                                              : hello.device_reason);
  if (hello.method != host.hello.method)
    refuse(given,
           fmt::format("it measures by method {} and this program by {}: their figures cannot be "
                       "compared",
                       hello.method, host.hello.method),
           true);
  if (const std::string name = repeated_name(hello); !name.empty())
    refuse(given, fmt::format("it has two implementations {}", name));
  complete_from_driver(*hello.device);
  apply_peak(*hello.device);
  return {program.path, program.arguments, std::move(source), roster.backend, std::move(hello), ""};
}

void invite_plugin(Roster& roster, const std::string& given, double timeout_s) {
  const std::string option = "--plugin " + given;
  std::error_code error;
  if (!fs::exists(given, error)) refuse(option, "there is no such file");
  if (!fs::is_regular_file(given, error)) refuse(option, "it is not a file");
  const fs::path file = fs::absolute(given);
  Program program;
  try {
    program = program_of(file, roster.backend);
  } catch (const std::runtime_error& failure) {
    refuse(option, failure.what());
  }
  WorkerFacts worker =
      guest(roster, option, program, fmt::format("plugin:{}", file.filename().string()), timeout_s);
  if (!worker.hello.source.starts_with("plugin:"))
    refuse(option,
           fmt::format("it claims to be \"{}\"; a plugin's rows are its own", worker.hello.source));
  roster.workers.push_back(std::move(worker));
}

struct Build {
  std::string label, folder;
};

Build build_of(const std::string& given) {
  std::error_code error;
  if (const auto equals = given.find('='); equals != given.npos && !fs::exists(given, error))
    return {given.substr(0, equals), given.substr(equals + 1)};
  fs::path folder = fs::absolute(given).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return {folder.filename().string(), given};
}

void invite_build(Roster& roster, const std::string& given, double timeout_s) {
  const std::string option = "--against " + given;
  const Build build = build_of(given);
  std::error_code error;
  if (build.label.empty()) refuse(option, "its label is empty; write LABEL=FOLDER");
  if (!fs::is_directory(build.folder, error))
    refuse(option, fmt::format("there is no folder {}", build.folder));
  const fs::path prefix = fs::absolute(build.folder);
  const std::vector<std::string> folders{prefix.string(), (prefix / "bin").string(),
                                         (prefix / "build" / "bin").string(),
                                         (prefix / "libexec" / "flashbench").string()};
  const std::string worker = fmt::format("flashbench-worker-{}", name(roster.backend));
  const std::string program = find_program(worker, folders);
  if (program.empty())
    refuse(option, fmt::format("there is no {} in it, nor in its bin, build/bin or "
                               "libexec/flashbench",
                               worker));
  roster.workers.push_back(
      guest(roster, option, {program, {}}, fmt::format("against:{}", build.label), timeout_s));
}

void invite_peers(Roster& roster, double timeout_s) {
  for (const WorkerFacts& worker : roster.workers)
    if (worker.source == peers_source) return;  // --plugin gave the same file
  try {
    const Program program =
        python_program(plugins_folder("pytorch") / "pytorch.py", roster.backend);
    roster.workers.push_back(guest(roster, "the PyTorch plugin", program, peers_source, timeout_s));
  } catch (const GuestError& error) {
    if (error.incomparable) throw;
    roster.workers.push_back(absent_peers(roster.backend, error.what()));
  } catch (const std::runtime_error& failure) {
    roster.workers.push_back(
        absent_peers(roster.backend, fmt::format("the PyTorch plugin: {}", failure.what())));
  }
}

}  // namespace

bool names_peers(const std::string& pattern) {
  return pattern.starts_with("pytorch") || pattern.starts_with("xformers") ||
         pattern.starts_with("flash-attn");
}

WorkerFacts absent_peers(Backend backend, const std::string& why) {
  WorkerFacts worker;
  worker.source = peers_source;
  worker.backend = backend;
  worker.absent = why;
  for (const char* name : {"pytorch-math", "pytorch-flash", "pytorch-efficient", "pytorch-cudnn",
                           "xformers", "flash-attn2", "flash-attn3"})
    worker.hello.implementations.push_back({name, "", "", {"fwd", "bwd"}});
  return worker;
}

void invite(Roster& roster, const Guests& guests) {
  for (const std::string& plugin : guests.plugins) invite_plugin(roster, plugin, guests.timeout_s);
  if (guests.peers) invite_peers(roster, guests.timeout_s);
  for (const std::string& build : guests.against) invite_build(roster, build, guests.timeout_s);
}

}  // namespace flashbench
