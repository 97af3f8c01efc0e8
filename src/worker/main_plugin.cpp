// flashbench-worker-plugin FILE --descriptor N: the implementations of a shared library, served by
// the worker library of the backend that they are for.
#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "flashbench/worker.h"

namespace {

namespace fs = std::filesystem;

void* load(const fs::path& file) {
  if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  throw std::runtime_error(fmt::format("it cannot be loaded: {}", dlerror()));
}

template <class Function>
Function function_of(void* library, const char* name, const char* hint) {
  void* found = dlsym(library, name);
  if (!found) throw std::runtime_error(fmt::format("it exports no {}(){}", name, hint));
  return reinterpret_cast<Function>(found);
}

// Beside this program, as it is built and as it is installed.
fs::path worker_library(FlashbenchBackend backend) {
  const char* name =
      backend == FLASHBENCH_CPU ? "libflashbench-worker-cpu.so" : "libflashbench-worker-cuda.so";
  return fs::read_symlink("/proc/self/exe").parent_path() / name;
}

int serve(const char* file, int descriptor) {
  void* library = load(fs::absolute(file));
  const auto describe = function_of<decltype(&flashbench_plugin)>(
      library, "flashbench_plugin", ", so it is no plugin: see flashbench/attention.h");
  const FlashbenchPlugin* plugin = describe();
  // A table of another version cannot be read; the CPU's library says so.
  const bool readable = plugin && plugin->abi == FLASHBENCH_ABI;
  const FlashbenchBackend backend = readable ? plugin->backend : FLASHBENCH_CPU;
  if (backend != FLASHBENCH_CPU && backend != FLASHBENCH_CUDA)
    throw std::runtime_error(
        fmt::format("it names no backend that there is ({})", static_cast<int>(backend)));
  const auto serve = function_of<decltype(&flashbench_serve)>(load(worker_library(backend)),
                                                              "flashbench_serve", "");
  return serve(plugin, fs::path(file).filename().c_str(), descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  int descriptor = -1;
  const char* number = argc == 4 && std::strcmp(argv[2], "--descriptor") == 0 ? argv[3] : "";
  const auto [end, error] = std::from_chars(number, number + std::strlen(number), descriptor);
  if (error != std::errc() || *end != 0 || descriptor < 0) {
    std::fputs("flashbench-worker-plugin: started by flashbench, as FILE --descriptor N\n", stderr);
    return 2;
  }
  try {
    return serve(argv[1], descriptor);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 2;
  }
}
