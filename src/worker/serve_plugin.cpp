#include "worker/serve_plugin.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "worker/answer.hpp"
#include "worker/serve.hpp"

namespace flashbench {

namespace {

const char* backend_name(FlashbenchBackend backend) {
  return backend == FLASHBENCH_CPU ? "the CPU" : backend == FLASHBENCH_CUDA ? "CUDA" : "nothing";
}

// The function that every implementation has and this one lacks; null when it lacks none.
const char* lacking(const FlashbenchImplementation& implementation) {
  if (!implementation.supports) return "supports";
  if (!implementation.cost) return "cost";
  if (!implementation.create) return "create";
  if (!implementation.destroy) return "destroy";
  if (!implementation.forward) return "forward";
  if ((implementation.passes & FLASHBENCH_BACKWARD) && !implementation.backward) return "backward";
  return nullptr;
}

}  // namespace

std::string flaw_of(const FlashbenchPlugin* plugin, FlashbenchBackend backend) {
  if (!plugin) return "it gave no table of implementations";
  if (plugin->abi != FLASHBENCH_ABI)
    return fmt::format("it is made for version {} of flashbench/attention.h, this is version {}",
                       plugin->abi, FLASHBENCH_ABI);
  if (plugin->backend != backend)
    return fmt::format("its implementations are for {}, this worker drives {}",
                       backend_name(plugin->backend), backend_name(backend));
  if (plugin->count == 0 || !plugin->implementations) return "it has no implementation";
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < plugin->count; ++i) {
    const FlashbenchImplementation& implementation = plugin->implementations[i];
    const std::string name = implementation.name ? implementation.name : "";
    if (name.empty()) return fmt::format("its implementation {} has no name", i);
    if (!names.insert(name).second) return fmt::format("it has two implementations {}", name);
    if (const char* function = lacking(implementation))
      return fmt::format("{} has no {}", name, function);
  }
  return {};
}

int serve_plugin(const FlashbenchPlugin* plugin, const char* name, FlashbenchBackend backend,
                 DeviceBackend& device, int descriptor) {
  if (const std::string flaw = flaw_of(plugin, backend); !flaw.empty()) {
    std::fprintf(stderr, "%s\n", flaw.c_str());
    return 2;
  }
  send_stdout_to_stderr();
  return serve(*plugin, {}, device, descriptor, fmt::format("plugin:{}", name ? name : ""));
}

}  // namespace flashbench
